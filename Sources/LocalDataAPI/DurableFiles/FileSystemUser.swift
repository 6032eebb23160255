import Glibc

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
