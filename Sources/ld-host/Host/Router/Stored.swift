public import LocalDataAPI

/// A property that is stored under a key.
///
/// ```swift
/// final class Settings: Sendable {
///     @Stored(.theme) var theme = "light"
/// }
/// let settings = Settings()
/// try await settings.$theme.load()
/// settings.theme = "dark"
/// try await settings.$theme.save()
/// for await theme in settings.$theme.changes { ... }
/// ```
///
/// - **Reading** gives what is in memory, without a wait: before ``StoredValue/load()`` the default that the property
///   is declared with, which is never written.
/// - **Setting** shows at once, and is written in the background, in order; of values that are set quickly one after
///   the other, the last one is. A set before the load waits until what is stored has been read, and wins over it.
/// - **Errors** of writing are thrown by ``StoredValue/save()``; the value in memory stays.
///
/// A property may be used from any thread.
@propertyWrapper
public struct Stored<Value: Codable & Sendable>: Sendable {
    /// What the property does besides being read and set: `$theme`.
    public let projectedValue: StoredValue<Value>

    /// Declares a property.
    ///
    /// - Parameters:
    ///   - wrappedValue: What it is as long as nothing is stored.
    ///   - key: Where it is stored.
    ///   - router: The way there.
    public init(wrappedValue: Value, _ key: StorageKey<Value>, router: StorageRouter = .shared) {
        projectedValue = StoredValue(key, default: wrappedValue, router: router)
    }

    /// The value in memory.
    public var wrappedValue: Value {
        get { projectedValue.value }
        nonmutating set { projectedValue.value = newValue }
    }
}
