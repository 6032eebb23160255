internal import CLinux
internal import Glibc
internal import HostGround
internal import LocalDataAPI

extension FileTrust {
    /// Requires that a path leads to the same place in every process and at any time: not through `/proc`, where a name
    /// may stand for a process's working directory or for one of its open files.
    ///
    /// - Throws: `StorageError.pluginRefused`.
    static func requireSameForAll(_ path: String) throws {
        var names = Array(path.split(separator: "/").reversed())
        var (folder, links) = ("", 0)
        while let name = names.popLast() {
            if name == "." { continue }
            if name == ".." {
                folder = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
                continue
            }
            let next = "\(folder)/\(name)"
            guard !isOfProcesses(next) else {
                throw StorageError.refusing(
                    path, "leads through \(PathText.shown(next)), which is another place for each process",
                    hint: "link the plugin with -rpath '$ORIGIN' or without a run path")
            }
            guard let target = linkTarget(next) else {
                folder = next
                continue
            }
            links += 1
            // More than the kernel follows: nothing is found there.
            guard links <= 40 else { return }
            if target.hasPrefix("/") { folder = "" }
            names += target.split(separator: "/").reversed()
        }
    }

    /// Whether a file or folder is one of procfs; not so a symbolic link to one.
    private static func isOfProcesses(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else {
            // A link of procfs itself need not lead into procfs.
            return path.lastIndex(of: "/").map { isProcFS($0 == path.startIndex ? "/" : String(path[..<$0])) } ?? false
        }
        return isProcFS(path)
    }

    private static func isProcFS(_ path: String) -> Bool {
        // O_PATH, which Swift does not import: it needs no right to read.
        guard let file = OwnedDescriptor(open(path, 0o10000000 | O_CLOEXEC)) else { return false }
        return ld_linux_file_system(file.raw) == 0x9FA0
    }
}
