/// How the program ends.
enum ExitStatus: Int32 {
    case done = 0
    /// What was asked for is not stored.
    case notFound = 1
    case failure = 2
    /// The command line makes no sense (EX_USAGE of sysexits.h).
    case usage = 64

    var code: Int32 { rawValue }

    /// What Docker's helpers end with whenever they fail.
    static let refused = ExitStatus.notFound
}
