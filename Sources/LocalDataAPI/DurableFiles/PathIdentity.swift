import Glibc

/// The identity of a path's target, however the path is spelled: symbolic links, mounts and `..` give one folder many
/// paths. Links are followed as ``FolderPath`` describes.
///
/// If the target does not exist yet, it is the nearest existing folder and the remaining names. Two identities can be
/// compared only if nothing was created between them.
public struct PathIdentity: Hashable, Sendable {
    /// The existing file or folder; `nil` if none can be reached.
    private let found: FileIdentity?
    /// The names below it.
    private let rest: [[UInt8]]

    /// Resolves an absolute path. May wait for the disk.
    public init(_ path: String) {
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

/// How a file system reports owner and mode of the files that this process creates. Some report another owner (SSHFS,
/// NFS), or one owner and mode for every file (FAT).
struct FileSystemUser {
    /// The reported owner of files that this process creates.
    let number: uid_t
    /// Whether files created for the owner alone are reported as closed to others.
    let keepsModes: Bool

    /// Probes the file system by creating and removing a file in an open folder; assumes the usual behaviour if that
    /// fails.
    init(probing folder: Int32) {
        let name = CString(".probe-\(String(UInt64.random(in: .min ... .max), radix: 16))".utf8)
        var status = stat()
        guard
            let file = Descriptor(
                Descriptor.open(name.start, in: folder, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)),
            fstat(file.number, &status) == 0
        else {
            unlinkat(folder, name.start, 0)
            self.init(number: geteuid(), keepsModes: true)
            return
        }
        unlinkat(folder, name.start, 0)
        self.init(number: status.st_uid, keepsModes: status.st_mode & (S_IWGRP | S_IWOTH) == 0)
    }

    private init(number: uid_t, keepsModes: Bool) {
        self.number = number
        self.keepsModes = keepsModes
    }

    /// The behaviour of an ordinary disk.
    static var usual: FileSystemUser { FileSystemUser(number: geteuid(), keepsModes: true) }

    /// Whether a file belongs to this user or to the superuser, who may do everything anyway.
    func owns(_ status: stat) -> Bool { status.st_uid == number || status.st_uid == 0 }

    /// Whether others may not write to a file, as far as the file system reports.
    func isClosed(_ status: stat) -> Bool { !keepsModes || status.st_mode & (S_IWGRP | S_IWOTH) == 0 }
}
