/// Why a storage operation failed: a stable code, a message that names the object, and a hint at what to do next.
///
/// The same error crosses the plugin boundary in both directions: the app catches a plugin's error with the same code
/// and message. Match errors by code, so that messages can improve without breaking callers:
///
/// ```swift
/// do { theme = try await router.get(.theme) } catch StorageError.notFound { theme = "light" }
/// ```
///
/// Messages never contain a stored value or key material.
public struct StorageError: Error, Sendable {
    /// What kind of failure this is.
    public let code: Code
    /// What failed, on which object (domain, key, path, plugin), what was expected and what was found.
    public let message: String
    /// What the reader can do next; empty if there is no advice.
    public let hint: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What failed, by name. Lower case, no final period, no secret. If empty, the code's own sentence.
    ///   - hint: What to do next; may be empty.
    public init(_ code: Code, _ message: String = "", hint: String = "") {
        self.code = code
        self.message = message.isEmpty ? code.summary : message
        self.hint = hint
    }

    /// Matches any `StorageError` with the same code, so that `catch StorageError.notFound` works.
    public static func ~= (pattern: StorageError, error: any Error) -> Bool {
        (error as? StorageError)?.code == pattern.code
    }
}

extension StorageError: Equatable {
    /// Two errors are equal when their codes are; messages are for people.
    public static func == (left: StorageError, right: StorageError) -> Bool { left.code == right.code }
}

extension StorageError: CustomStringConvertible {
    /// The message, followed by the hint if there is one.
    public var description: String { hint.isEmpty ? message : "\(message) (\(hint))" }
}
