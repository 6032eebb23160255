import Glibc

/// How many batches of a root have begun and ended, as far as who changes a file on its own has to know: if it is the
/// same before and after the change, no batch was compared with the old file and then put in place over the new one.
///
/// The size of the lock's file counts; it is odd while a batch is under way, or was left there. The file has no
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

    /// Where the count starts over; below every limit of a file's size.
    static let most: off_t = 4096
}
