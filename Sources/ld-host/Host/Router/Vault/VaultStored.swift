internal import LocalDataAPI

/// A property whose value a ``VaultStorable`` declares.
///
/// ```swift
/// struct Model: Sendable {
///     @VaultStored(UserSettingsStorage.self) var settings
/// }
/// let model = Model()
/// await model.$settings.initializationTask.value
/// model.settings = UserSettingsV2(theme: "dark", notifications: false)
/// try await model.$settings.save()
/// ```
///
/// A property cannot wait or fail, so until the stored value has been read it has the default; see
/// ``VaultDataStorage``. It may be used from any thread.
@propertyWrapper
public struct VaultStored<Value: Codable & Sendable & Equatable>: Sendable {
    /// Everything besides getting and setting the value: `$settings`.
    public let projectedValue: VaultDataStorage<Value>

    /// Declares a property, and begins to read its value.
    ///
    /// - Parameters:
    ///   - storage: What is stored, where and how.
    ///   - router: The router to use.
    public init<Storage: VaultStorable>(_ storage: Storage.Type, router: StorageRouter = .shared)
    where Storage.Value == Value {
        projectedValue = VaultDataStorage(storage, service: router)
    }

    /// The value in memory.
    public var wrappedValue: Value {
        get { projectedValue.value }
        nonmutating set { projectedValue.value = newValue }
    }
}
