import Glibc

/// The identity of a path's target, however the path is spelled: symbolic links, mounts and `..` give one folder many
/// paths. Links are followed as ``FolderPath`` describes.
///
/// If the target does not exist yet, it is the nearest existing folder and the remaining names. Two identities can be
/// compared only if nothing was created between them.
package struct PathIdentity: Hashable, Sendable {
    /// The existing file or folder; `nil` if none can be reached.
    private let found: FileIdentity?
    /// The names below it.
    private let rest: [[UInt8]]

    /// Resolves an absolute path. May wait for the disk.
    package init(_ path: String) {
        var names = path.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        var rest: [[UInt8]] = []
        while true {
            if let found = Self.identity(of: names, isFolder: !rest.isEmpty) {
                self.found = found
                break
            }
            guard let name = names.popLast() else {
                found = nil
                break
            }
            rest.append(Array(name))
        }
        self.rest = rest.reversed()
    }

    private static func identity(of names: [Substring.UTF8View], isFolder: Bool) -> FileIdentity? {
        let path = FolderPath(root: names.map { CString($0) }, below: [])
        var status = stat()
        if let folder = try? path.open() {
            return fstat(folder.number, &status) == 0 ? FileIdentity(status) : nil
        }
        guard !isFolder, stat(path.text.start, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileIdentity(status)
    }
}
