package import Glibc
import LocalDataAPI

/// Whether users other than root and the effective user can change a plugin file, or replace it.
///
/// It checks the owner and the mode of the file and of every folder above it, on the path with all symbolic links
/// resolved. POSIX ACLs need no extra check: an entry that grants write access is limited by the ACL's mask, and
/// `stat(2)` reports the mask as the group's bits (acl(5)).
///
/// Not checked: whether the file was replaced before its mode was corrected, and file systems whose modes have no
/// effect (some network file systems).
package struct FileTrust: Sendable {
    let user: uid_t
    let asked: String
    let real: String

    /// Resolves the path and checks the file and its folders.
    ///
    /// The walk goes down from `/`: once others cannot write to a folder, they cannot exchange its entries, so nothing
    /// can change after it was checked. The file is not opened, so that a FIFO or a device cannot block.
    ///
    /// - Parameters:
    ///   - path: The path as the user or the configuration wrote it; a relative one starts at the working directory.
    ///   - user: The user who may own files besides root; by default the effective user.
    /// - Returns: The real path, to be used from here on.
    /// - Throws: `StorageError.pluginRefused` with the first weakness, from the top down.
    package static func check(_ path: String, for user: uid_t = geteuid()) throws -> TrustedPath {
        var passed = PassedFolders()
        return try check(path, for: user, passing: &passed)
    }

    /// Folders that were checked a moment ago, as part of the same work and for the same user; they need not be checked
    /// again for the next file.
    package struct PassedFolders {
        private var folders: Set<String> = []

        mutating func check(_ path: String, by trust: FileTrust) throws {
            for folder in FileTrust.folders(above: path) where !folders.contains(folder) {
                try trust.judge(folder, try trust.status(folder))
                folders.insert(folder)
            }
        }
    }

    /// Checks one of several files.
    static func check(
        _ path: String, for user: uid_t = geteuid(), passing passed: inout PassedFolders
    ) throws -> TrustedPath {
        let trust = FileTrust(user: user, asked: path, real: try resolve(path))
        try passed.check(trust.real, by: trust)
        let status = try trust.status(trust.real)
        try trust.judgeKind(status)
        try trust.judge(trust.real, status)
        return TrustedPath(path: trust.real, identity: FileIdentity(status))
    }

    /// `/` and every folder below it down to the file's own, for a real path.
    static func folders(above real: String) -> [String] {
        var folders = ["/"]
        for index in real.utf8.indices.dropFirst() where real.utf8[index] == UInt8(ascii: "/") {
            folders.append(String(real[..<index]))
        }
        return folders
    }

    func status(_ path: String) throws -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let text = StorageError.systemText(errno)
            throw refusal("cannot be checked: \(PathText.shown(path)): \(text)")
        }
        return status
    }

    private func judgeKind(_ status: stat) throws {
        guard status.st_mode & S_IFMT != S_IFREG else { return }
        let kind = Self.kinds[status.st_mode & S_IFMT] ?? "of an unknown kind"
        throw refusal("is \(kind), expected a regular file", hint: "name the shared library itself")
    }

    func judge(_ path: String, _ status: stat) throws {
        let isFile = path == real
        guard isFile || status.st_mode & S_IFMT == S_IFDIR else {
            throw refusal("was moved meanwhile: \(PathText.shown(path)) is no longer a folder", hint: "try again")
        }
        let subject = isFile ? "" : "is below the folder \(PathText.shown(path)), which "
        let quoted = PathText.shellQuoted(path)
        guard status.st_uid == 0 || status.st_uid == user else {
            let allowed = user == 0 ? "uid 0 (root)" : "uid \(user) or uid 0 (root)"
            let advice =
                isFile ? "if you trust it" : "move the plugin to a folder of your own or, if you trust this one"
            throw refusal(
                "\(subject)is owned by uid \(status.st_uid), expected \(allowed)",
                hint: "\(advice), run: chown \(user) \(quoted)")
        }
        guard let writers = Self.writers(status) else { return }
        // In a sticky folder only the owner of an entry, or of the folder, can rename or remove the entry (unlink(2));
        // both are root or the user, as this walk has checked. On a file the bit means nothing.
        if !isFile && status.st_mode & S_ISVTX != 0 { return }
        throw refusal(
            "\(subject)is writable by \(writers) (mode \(PathText.octal(status.st_mode & 0o7777)))"
                + ", expected to be writable by its owner only",
            hint: "make sure that nobody else changed it, then run: chmod go-w \(quoted)")
    }

    /// The users other than the owner who can write; `nil` if nobody can.
    static func writers(_ status: stat) -> String? {
        switch status.st_mode & (S_IWGRP | S_IWOTH) {
        case 0: nil
        case S_IWGRP: "its group"
        case S_IWOTH: "others"
        default: "its group and others"
        }
    }

    func refusal(_ finding: String, hint: String = "") -> StorageError {
        asked == real
            ? .refusing(real, finding, hint: hint)
            : .refusing(asked, "(really \(PathText.shown(real))) \(finding)", hint: hint)
    }

    private static let kinds: [mode_t: String] = [
        S_IFDIR: "a directory", S_IFIFO: "a named pipe (FIFO)", S_IFSOCK: "a socket",
        S_IFCHR: "a character device", S_IFBLK: "a block device", S_IFLNK: "a symbolic link",
    ]
}
