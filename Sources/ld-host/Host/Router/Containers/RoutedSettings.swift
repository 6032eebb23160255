internal import LocalDataAPI
internal import Synchronization

/// The settings of a container in a router's stores.
final class RoutedSettings: SettingConnector {
    private let router: StorageRouter
    /// Take the failure of the last write of each setting, if no call has reported it yet.
    private let failures = Mutex<[@Sendable () -> (any Error)?]>([])

    init(_ router: StorageRouter) { self.router = router }

    func backing<Value: Codable & Sendable>(_ key: StorageKey<Value>, default value: Value) -> any SettingBacking<Value>
    {
        let stored = StoredValue(key, default: value, router: router)
        failures.withLock { $0.append { stored.takeFailure() } }
        return RoutedSetting(stored, of: self)
    }

    /// - Throws: What a write in the background threw, if no call has reported it yet.
    fileprivate func report() throws {
        for take in failures.withLock({ $0 }) {
            if let failure = take() { throw failure }
        }
    }
}

/// A setting, whose calls also report what went wrong with the others.
private final class RoutedSetting<Value: Codable & Sendable>: SettingBacking {
    private let stored: StoredValue<Value>
    private let container: RoutedSettings

    init(_ stored: StoredValue<Value>, of container: RoutedSettings) {
        self.stored = stored
        self.container = container
    }

    var value: Value {
        get { stored.value }
        set { stored.value = newValue }
    }
    var isLoaded: Bool { stored.isLoaded }
    var changes: AsyncStream<Value> { stored.changes }

    func load() async throws {
        try await stored.load()
        try container.report()
    }

    func save() async throws {
        try await stored.save()
        try container.report()
    }
}
