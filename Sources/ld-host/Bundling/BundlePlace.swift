import Foundation

/// Where a bundle is put. Only what an earlier bundle has put there is replaced: each has a list of its files, and a
/// folder with anything else is refused.
struct BundlePlace {
    /// The list: a line that says what it is, then one path a line.
    private static let marker = "lib/localdata/bundle"
    private static let heading = "LocalData bundle 1"

    private let folder: URL
    private let files = FileManager.default

    init(_ folder: URL) { self.folder = folder }

    private var path: String { folder.path(percentEncoded: false) }

    /// - Returns: The files and folders of the bundle that is there; empty if nothing is.
    /// - Throws: `CommandFailure` for a folder that has anything else.
    @discardableResult
    func check() throws -> [String] {
        guard (try? files.attributesOfItem(atPath: path)) != nil else { return [] }
        guard try files.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeDirectory else {
            throw CommandFailure("'\(path)' is not a folder")
        }
        let found = try files.subpathsOfDirectory(atPath: path)
        if found.isEmpty { return [] }
        let list = try? String(contentsOf: folder.appending(path: Self.marker), encoding: .utf8)
        let lines = list?.split(separator: "\n").map(String.init) ?? []
        guard lines.first == Self.heading else {
            throw CommandFailure("'\(path)' is neither empty nor an earlier bundle; nothing was changed")
        }
        let known = Set(lines.dropFirst())
        if let other = found.filter({ !known.contains($0) }).min() {
            throw CommandFailure(
                "'\(path)' has '\(other)', which no bundle has put there; nothing was changed: name another folder")
        }
        return found
    }

    /// A new folder beside the place, in which to make the bundle.
    func stage() throws -> URL {
        let staged = beside("new")
        try files.createDirectory(at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
        try files.createDirectory(at: staged, withIntermediateDirectories: false)
        return staged
    }

    /// Puts a bundle in place, and then removes the earlier one.
    ///
    /// - Throws: `CommandFailure` if something was added to the earlier one meanwhile: that is kept.
    func put(_ staged: URL) throws {
        let marker = staged.appending(path: Self.marker)
        let made = try files.subpathsOfDirectory(atPath: staged.path(percentEncoded: false)) + [Self.marker]
        let list = ([Self.heading] + made.sorted()).map { "\($0)\n" }.joined()
        try list.write(to: marker, atomically: false, encoding: .utf8)
        let earlier = try check()
        let old = beside("old")
        let isReplaced = files.fileExists(atPath: path)
        if isReplaced { try files.moveItem(at: folder, to: old) }
        try files.moveItem(at: staged, to: folder)
        guard isReplaced else { return }
        // What is deeper comes first, and a folder that is not empty stays.
        for name in earlier.sorted(by: >) + [""] {
            let item = name.isEmpty ? old : old.appending(path: name)
            let itemPath = item.path(percentEncoded: false)
            if try files.attributesOfItem(atPath: itemPath)[.type] as? FileAttributeType == .typeDirectory {
                rmdir(itemPath)
            } else {
                try files.removeItem(at: item)
            }
        }
        guard !files.fileExists(atPath: old.path(percentEncoded: false)) else {
            throw CommandFailure(
                "the bundle is in place; what was added to the earlier one meanwhile is in "
                    + "'\(old.path(percentEncoded: false))'")
        }
    }

    private func beside(_ what: String) -> URL {
        let name = ".\(folder.lastPathComponent).\(what)-\(ProcessInfo.processInfo.processIdentifier)"
        return folder.deletingLastPathComponent().appending(path: name)
    }
}
