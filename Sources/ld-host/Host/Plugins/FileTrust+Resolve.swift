import Glibc
import LocalDataAPI

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

    private static func linkTarget(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let count = readlink(path, base, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }
}
