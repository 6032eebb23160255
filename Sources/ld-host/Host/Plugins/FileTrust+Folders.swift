import Glibc
import LocalDataAPI

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
        let trust = FileTrust(user: user, asked: path, real: try resolve(existing))
        if trust.real != "/" { try passed.check(trust.real, by: trust) }
        let status = try trust.status(trust.real)
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw trust.refusal("is not a folder", hint: "remove it from the run path")
        }
        try trust.judge(trust.real, status)
    }
}
