internal import DurableFiles
package import Glibc
internal import HostGround
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
    /// What to do about a file or folder that the user cannot or should not change.
    var otherwise = "if you trust it, use a copy in a folder that only you can write to"

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
        return TrustedPath(path: trust.real, identity: FileVersion(status))
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
        // Not before it is needed: for each folder above each file it would take longer than the check.
        var subject: String { isFile ? "" : "is below the folder \(PathText.shown(path)), which " }
        guard Ownership.isTrusted(status, of: path, by: user) else {
            let allowed = user == 0 ? "uid 0 (root)" : "uid \(user) or uid 0 (root)"
            throw refusal(
                "\(subject)is owned by uid \(status.st_uid), expected \(allowed)",
                hint: Self.adoption(of: path, status, by: user) ?? otherwise)
        }
        guard let writers = Self.writers(status, besides: user) else { return }
        // In a sticky folder only the owner of an entry, or of the folder, can rename or remove the entry (unlink(2));
        // both are root or the user, as this walk has checked. On a file the bit means nothing.
        if !isFile && status.st_mode & S_ISVTX != 0 { return }
        throw refusal(
            "\(subject)is writable by \(writers) (mode \(PathText.octal(status.st_mode & 0o7777)))"
                + ", expected to be writable by its owner only",
            hint: Self.closing(path, status, by: user) ?? otherwise)
    }

    /// The command that takes over a file of another user; `nil` for a folder, and for a user who cannot do it.
    private static func adoption(of path: String, _ status: stat, by user: uid_t) -> String? {
        guard user == 0, status.st_mode & S_IFMT != S_IFDIR else { return nil }
        return "if you trust it, run: chown 0 \(PathText.shellQuoted(path))"
    }

    /// The command that closes a file or folder that others can write to; `nil` if it is not the user's own.
    private static func closing(_ path: String, _ status: stat, by user: uid_t) -> String? {
        guard Ownership.isOwn(status, of: user) else { return nil }
        return "make sure that nobody else changed it, then run: chmod go-w \(PathText.shellQuoted(path))"
    }

    /// The users other than the owner who can write; `nil` if nobody can.
    static func writers(_ status: stat, besides user: uid_t) -> String? {
        switch Ownership.writers(status, besides: user) {
        case (false, false): nil
        case (true, false): "its group"
        case (false, true): "others"
        case (true, true): "its group and others"
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

extension FileTrust {
    /// Checks a folder from which libraries are loaded: only root and the user may put files in it. Unlike with a
    /// folder above a file, the sticky bit does not help. A missing folder is as safe as the folder where it would be.
    ///
    /// - Throws: `StorageError.pluginRefused` with the first weakness, from the top down.
    static func checkFolder(
        _ path: String, for user: uid_t = geteuid(), passing passed: inout PassedFolders
    ) throws {
        var existing = path
        while access(existing, F_OK) != 0, errno == ENOENT, let slash = existing.lastIndex(of: "/") {
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        let trust = FileTrust(
            user: user, asked: path, real: try resolve(existing),
            otherwise: "link the plugin without this run path, or make it a folder that only you can write to")
        if trust.real != "/" { try passed.check(trust.real, by: trust) }
        let status = try trust.status(trust.real)
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw trust.refusal("is not a folder", hint: "remove it from the run path")
        }
        try trust.judge(trust.real, status)
    }
}

extension FileTrust {
    /// The absolute path without symbolic links, by realpath(3).
    static func resolve(_ path: String) throws -> String {
        guard !path.isEmpty else { throw StorageError(.pluginRefused, "the path of a plugin file is empty") }
        // C would end the path at the NUL and check a different file.
        guard !path.utf8.contains(0) else {
            throw StorageError.refusing(path, "cannot exist: its name holds a NUL byte")
        }
        guard let resolved = realpath(path, nil) else { throw unresolved(path, errno) }
        defer { free(resolved) }
        guard let real = String(validatingCString: resolved) else {
            throw StorageError.refusing(
                path, "leads to \(PathText.shown(String(cString: resolved))), expected a path in UTF-8",
                hint: "rename the file or folder whose name is not UTF-8")
        }
        return real
    }

    private static func unresolved(_ path: String, _ number: Int32) -> StorageError {
        let text = StorageError.systemText(number)
        switch number {
        case ENOENT:
            guard let target = linkTarget(path) else { return .refusing(path, "does not exist: \(text)") }
            return .refusing(
                path, "is a symbolic link to \(PathText.shown(target)), which does not exist",
                hint: "remove the link or restore what it points to")
        case ELOOP:
            return .refusing(
                path, "cannot be resolved: \(text)", hint: "a link leads back to itself; see namei \(quoted(path))")
        case ENAMETOOLONG:
            let limits = "\(PATH_MAX - 1) bytes a path, \(NAME_MAX) a name"
            return .refusing(path, "cannot exist: \(text) (\(path.utf8.count) bytes, at most \(limits))")
        case EACCES:
            return .refusing(
                path, "cannot be reached: \(text)",
                hint: "a folder above it is closed to you; see namei -l \(quoted(path))")
        default:
            return .refusing(path, "cannot be resolved: \(text)")
        }
    }

    private static func quoted(_ path: String) -> String { PathText.shellQuoted(path) }

    static func linkTarget(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let count = readlink(path, base, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }
}

extension FileTrust {
    /// A way for users other than root and this one to change a file or a folder, or to replace it.
    package struct Weakness: Sendable {
        /// The file or folder to correct: the requested one, or a folder above it.
        package let path: String
        /// What is wrong with it, e.g. `others can write it (mode 666)`.
        package let finding: String
        /// What corrects it: a command only for what is the user's own.
        package let hint: String
    }

    /// Checks a host file or folder and every folder above it, by the rules for plugins. Returns the first weakness
    /// from the top down; `nil` if absent. If the path does not exist yet, only the folders above it count.
    package static func weakness(of path: String, for user: uid_t = geteuid()) -> Weakness? {
        guard let real = nearest(path) else { return nil }
        for folder in folders(above: real.path) {
            if let found = weakness(folder, isAbove: true, user) { return found }
        }
        return weakness(real.path, isAbove: !real.isItself, user)
    }

    /// The real path of the file, or of the nearest existing folder above it.
    private static func nearest(_ path: String) -> (path: String, isItself: Bool)? {
        guard var part = try? HostFile.absolute(path) else { return nil }
        var isItself = true
        while true {
            if let resolved = realpath(part, nil) {
                defer { free(resolved) }
                return String(validatingCString: resolved).map { ($0, isItself) }
            }
            guard let slash = part.lastIndex(of: "/"), part != "/" else { return nil }
            part = slash == part.startIndex ? "/" : String(part[..<slash])
            isItself = false
        }
    }

    private static func weakness(_ path: String, isAbove: Bool, _ user: uid_t) -> Weakness? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let it = isAbove ? "the folder \(PathText.shown(path)) above it" : "it"
        let otherwise = "keep it in a folder that only you can write to"
        guard Ownership.isTrusted(status, of: path, by: user) else {
            return Weakness(
                path: path,
                finding: isAbove ? "\(it) belongs to uid \(status.st_uid)" : "it belongs to uid \(status.st_uid)",
                hint: adoption(of: path, status, by: user) ?? otherwise)
        }
        // A sticky folder keeps others from replacing its entries, not from adding to them.
        guard let writers = writers(status, besides: user), !(isAbove && status.st_mode & S_ISVTX != 0) else {
            return nil
        }
        return Weakness(
            path: path, finding: "\(writers) can write \(it) (mode \(PathText.octal(status.st_mode & 0o7777)))",
            hint: closing(path, status, by: user) ?? otherwise)
    }
}
