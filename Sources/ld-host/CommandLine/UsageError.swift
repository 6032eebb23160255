/// A command line that makes no sense.
struct UsageError: Error {
    let message: String
    let hint: String

    init(_ message: String, hint: String = "run: ld-host help") {
        self.message = message
        self.hint = hint
    }
}

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

/// What a JSON decoder complains about, with the place if it tells one.
enum JSONFailure {
    static func text(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }
}
