public import Glibc
public import LocalDataPluginAPI

/// What a new file has to be as the file system shows it, whatever this process has asked for: a file system may give
/// all files one mode or one owner. A file that a later call would refuse, or that others could read, is refused before
/// anything is written to it.
public enum NewFileRule: Sendable {
    /// Whoever may read the file.
    case any
    /// A file of this user.
    case owned
    /// A file of this user that others cannot read; in a folder that is shared by a group, others but the group.
    case secret

    /// Checks a new file.
    ///
    /// - Throws: `storeUnavailable` naming the file system's habit.
    public func check(
        _ status: stat, isShared: Bool, in folder: @autoclosure () -> String
    ) throws(StorageError) {
        if case .any = self { return }
        guard status.st_uid == geteuid() else {
            throw StorageError(
                .storeUnavailable,
                "the file system of '\(folder())' gives new files to user \(status.st_uid), and this is user \(geteuid())",
                hint: "use a folder on another file system, or mount that one so that files keep their owners")
        }
        guard case .secret = self, status.st_mode & (isShared ? 0o007 : 0o077) != 0 else { return }
        throw StorageError(
            .storeUnavailable,
            "the file system of '\(folder())' gives new files the mode \(String(status.st_mode & 0o7777, radix: 8)), so "
                + "other users could read them",
            hint: "use a folder on another file system, or mount that one for you alone, e.g. with umask=077")
    }
}
