import Glibc

/// How a file system shows what this process makes there. Some show another owner than made it (SSHFS, NFS), or one
/// owner and one mode for everything (FAT).
struct FileSystemUser {
    /// The owner of what this process makes.
    let number: uid_t
    /// Whether others may not write to what is made for the owner alone.
    let keepsModes: Bool

    /// Asks the file system by making a file in an open folder, and removing it; as on any disk if that fails.
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

    /// As on any disk.
    static var usual: FileSystemUser { FileSystemUser(number: geteuid(), keepsModes: true) }

    /// Whether something belongs to this user or, who may do everything anyway, to the superuser.
    func owns(_ status: stat) -> Bool { status.st_uid == number || status.st_uid == 0 }

    /// Whether others may not write to something, as far as the file system says.
    func isClosed(_ status: stat) -> Bool { !keepsModes || status.st_mode & (S_IWGRP | S_IWOTH) == 0 }
}
