import Glibc

/// Counts the batches of a root that have begun and ended. If the count is the same before and after a single change,
/// no batch compared the old file and then replaced the new one.
///
/// The count is the size of the lock file. It is odd while a batch is running or was abandoned. The file has no
/// content.
struct BatchTurn: Equatable {
    private let identity: FileIdentity?
    private let size: off_t

    init(_ path: CString) {
        var status = stat()
        let isThere = lstat(path.start, &status) == 0
        identity = isThere ? FileIdentity(status) : nil
        size = isThere ? status.st_size : 0
    }

    var isUnderWay: Bool { size % 2 == 1 }

    /// Where the count wraps; below every limit on a file's size.
    static let most: off_t = 4096
}
