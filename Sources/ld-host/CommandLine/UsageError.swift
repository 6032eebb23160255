/// A command line that makes no sense.
struct UsageError: Error {
    let message: String
    let hint: String

    init(_ message: String, hint: String = "run: ld-host help") {
        self.message = message
        self.hint = hint
    }
}
