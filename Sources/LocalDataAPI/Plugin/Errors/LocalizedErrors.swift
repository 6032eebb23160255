#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// `localizedDescription` is the message, for code that shows errors of any kind.
extension StorageError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The hint; `nil` if it is empty or names a command of `ld-host`. That one is for the operator of the host, and
    /// stays in ``StorageError/hint`` and in `description`, which go into logs.
    public var recoverySuggestion: String? { hint.isEmpty || hint.contains("ld-host ") ? nil : hint }
}

/// `localizedDescription` is the message, for code that shows errors of any kind.
extension MigrationError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The hint of the underlying storage error; `nil` if either is absent.
    public var recoverySuggestion: String? { underlying.flatMap(\.recoverySuggestion) }
}
