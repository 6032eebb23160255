internal import LocalDataAPI
internal import LocalDataHost

/// A request that makes no sense, though its frame does: it alone fails.
struct InvalidPipeRequest: Error {
    let error: StorageError

    init(_ message: String, hint: String = "see Pipe.md") {
        error = StorageError(.deserializationFailed, message, hint: hint)
    }
}
