public import LocalDataAPI

/// A property that is stored under a key.
///
/// ```swift
/// struct Settings: Sendable {
///     @Stored(.theme) var theme = "light"
/// }
/// let settings = Settings()
/// try await settings.$theme.load()
/// settings.theme = "dark"
/// try await settings.$theme.save()
/// for await theme in settings.$theme.changes { ... }
/// ```
///
/// - **Reading** returns the value in memory, without waiting. Before ``StoredValue/load()`` that is the declared
///   default, which is never written.
/// - **Setting** takes effect at once, and is written in the background, in order; of values set in quick succession,
///   the last one is written. A value set before the load waits until the stored one has been read, and replaces it.
/// - **Errors** of writing are logged, and thrown by the next ``StoredValue/save()`` or ``StoredValue/load()``; the
///   value in memory stays.
/// - **The end of the program.** When `main` returns, or exit(3) is called, the process waits up to 5 seconds for
///   values that are set and not yet written, and logs those that are not stored then. A signal ends it without that.
///
/// A property may be used from any thread.
@propertyWrapper
public struct Stored<Value: Codable & Sendable>: Sendable {
    /// Everything besides getting and setting the value: `$theme`.
    public let projectedValue: StoredValue<Value>

    /// Declares a property.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value while nothing is stored.
    ///   - key: The key that stores it.
    ///   - router: The router to use.
    public init(wrappedValue: Value, _ key: StorageKey<Value>, router: StorageRouter = .shared) {
        projectedValue = StoredValue(key, default: wrappedValue, router: router)
    }

    /// The value in memory.
    public var wrappedValue: Value {
        get { projectedValue.value }
        nonmutating set { projectedValue.value = newValue }
    }
}
