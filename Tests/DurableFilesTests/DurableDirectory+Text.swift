import DurableFiles
import Synchronization

/// Files as text, for tests.
extension DurableDirectory {
    func replace(_ name: String, _ text: String) throws { try replace(RelativePath(name), text) }

    func replace(_ path: RelativePath, _ text: String) throws {
        try Array(text.utf8).withUnsafeBytes { try replace(path, with: $0) }
    }

    func text(_ name: String) throws -> String? { try text(RelativePath(name)) }

    func text(_ path: RelativePath) throws -> String? {
        guard let file = try open(path) else { return nil }
        var text: String?
        try file.read { span in text = span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
        return text
    }
}
