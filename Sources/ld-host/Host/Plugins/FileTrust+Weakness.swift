internal import Glibc

extension FileTrust {
    /// A way for users other than root and this one to change a file or a folder, or to replace it.
    struct Weakness: Sendable {
        /// The file or folder to correct: the requested one, or a folder above it.
        let path: String
        /// What is wrong with it, e.g. `others can write it (mode 666)`.
        let finding: String
        /// The command that corrects it.
        let hint: String
    }

    /// Checks a host file or folder and every folder above it, by the rules for plugins. Returns the first weakness
    /// from the top down; `nil` if there is none. If the path does not exist yet, only the folders above it count.
    static func weakness(of path: String, for user: uid_t = geteuid()) -> Weakness? {
        guard let real = nearest(path) else { return nil }
        for folder in folders(above: real.path) {
            if let found = weakness(folder, isAbove: true, user) { return found }
        }
        return weakness(real.path, isAbove: !real.isItself, user)
    }

    /// The real path of the file, or of the nearest existing folder above it.
    private static func nearest(_ path: String) -> (path: String, isItself: Bool)? {
        var part = HostFile.absolute(path)
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
        let (it, quoted) = (isAbove ? "the folder \(PathText.shown(path)) above it" : "it", PathText.shellQuoted(path))
        guard status.st_uid == 0 || status.st_uid == user else {
            return Weakness(
                path: path,
                finding: isAbove ? "\(it) belongs to uid \(status.st_uid)" : "it belongs to uid \(status.st_uid)",
                hint: "if you trust what it holds, run: chown \(user) \(quoted)")
        }
        // A sticky folder keeps others from replacing its entries, not from adding to them.
        guard let writers = writers(status), !(isAbove && status.st_mode & S_ISVTX != 0) else { return nil }
        return Weakness(
            path: path, finding: "\(writers) can write \(it) (mode \(PathText.octal(status.st_mode & 0o7777)))",
            hint: "make sure that nobody else changed it, then run: chmod go-w \(quoted)")
    }
}
