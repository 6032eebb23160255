/// Thrown by the reads of an ``ExpiringBackend`` for a value that has expired.
public struct ValueExpired: Error {
    /// Creates the error.
    public init() {}
}
