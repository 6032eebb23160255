import Foundation

/// A home folder of one test's own, which is removed with the object.
final class Home: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/localdata-secrets.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BuiltProducts.Failure(description: "mkdtemp: \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try FileManager.default.createDirectory(
            atPath: "\(path)/run", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
