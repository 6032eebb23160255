public import FoundationEssentials
internal import HostGround
internal import HostStores
public import LocalDataAPI
internal import Synchronization

/// A value in memory that is stored under a key with versions: it is read, and brought to the current version, as soon
/// as the object exists.
///
/// ```swift
/// let storage = VaultDataStorage<UserSettingsV2>(
///     key: "settings", defaultValue: .default, service: .shared, migrator: migrator)
/// await storage.initializationTask.value
/// storage.value.notifications = false
/// try await storage.save()
/// ```
///
/// - **Before the first read** the value is the default, which is never written. A value that is set before waits, and
///   replaces what is stored.
/// - **If the first read fails**, ``error`` says why, the value is the default, and nothing is written: what is stored
///   stays. ``load()`` tries again.
/// - **A value that a converter refuses** is such a failure. ``save()`` throws it, too, until the value is converted.
/// - **A value that no version reads** is in quarantine, and the value is the default.
/// - **Its key** is declared by that: an app's catalogs need not list it, and audits show it.
public final class VaultDataStorage<Value: Codable & Sendable & Equatable>: Sendable {
    /// Reads the stored value; ends when that is done or has failed.
    public let initializationTask: Task<Void, Never>

    private let stored: Result<StoredValue<Value>, MigrationError>
    private let unstored: Mutex<Value>
    private let failure: Failure

    /// Why the first read failed.
    private final class Failure: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    /// A value under a name in the app's own preferences.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - defaultValue: The value while nothing is stored.
    ///   - service: The router that stores it.
    ///   - migrator: The versions and their converters.
    ///   - encoder: Writes the value and, in a chain, compares older versions.
    ///   - decoder: Reads all versions.
    public convenience init(
        key: String, defaultValue: Value, service: StorageRouter = .shared, migrator: DataMigrator<Value>,
        encoder: JSONEncoder, decoder: JSONDecoder
    ) {
        self.init(
            key: key, defaultValue: defaultValue, service: service, migrator: migrator,
            serializer: .json(encoder: encoder, decoder: decoder))
    }

    /// The same with a serializer, JSON by default.
    public convenience init(
        key: String, defaultValue: Value, service: StorageRouter = .shared, migrator: DataMigrator<Value>,
        serializer: Serializer<Value> = .json
    ) {
        let key = StorageKey(
            name: key, domain: .userDefaults(), serializer: serializer, owner: "VaultDataStorage",
            description: "a value with versions", migrator: migrator, ifUndecodable: .quarantine)
        self.init(.success(StoredValue(key, default: defaultValue, router: service)), defaultValue)
    }

    /// The value that a type declares.
    ///
    /// Converters that contradict each other are reported by ``error`` and ``save()``; then nothing is read or written.
    public convenience init<Storage: VaultStorable>(_ storage: Storage.Type, service: StorageRouter = .shared)
    where Storage.Value == Value {
        let key = Result { () throws(MigrationError) in try storage.storageKey() }
        self.init(
            key.map { StoredValue($0, default: storage.defaultValue, router: service) }, storage.defaultValue)
    }

    private init(_ stored: Result<StoredValue<Value>, MigrationError>, _ defaultValue: Value) {
        self.stored = stored
        if let stored = try? stored.get() {
            stored.router.declared.add(AnyStorageKey(stored.key), of: stored.key.owner)
        }
        unstored = Mutex(defaultValue)
        let failure = Failure()
        self.failure = failure
        initializationTask = Task {
            do { try await stored.get().load() } catch {
                failure.error.withLock { $0 = error }
                // Nobody has to ask for the error.
                if let router = try? stored.get().router, let snapshot = try? await router.snapshot() {
                    snapshot.log(.error, "vault", "a value cannot be read, and the default stands in: \(error)")
                }
            }
        }
    }

    /// The value in memory; setting it queues a write.
    public var value: Value {
        get { (try? stored.get())?.value ?? unstored.withLock { $0 } }
        set {
            guard let stored = try? stored.get() else { return unstored.withLock { $0 = newValue } }
            stored.value = newValue
        }
    }

    /// Why the last read failed; `nil` if it did not.
    public var error: (any Error)? { failure.error.withLock { $0 } }

    /// Whether the stored value has been read.
    public var isLoaded: Bool { (try? stored.get())?.isLoaded ?? false }

    /// Reads the stored value again; see ``StoredValue/load()``.
    public func load() async throws {
        do {
            try await stored.get().load()
            failure.error.withLock { $0 = nil }
        } catch {
            failure.error.withLock { $0 = error }
            throw error
        }
    }

    /// Waits until all values set so far are written.
    ///
    /// - Throws: What the last write threw, or why nothing can be read or written.
    public func save() async throws { try await stored.get().save() }

    /// The values that it gets from now on; see ``StoredValue/changes``. Empty if nothing can be read or written.
    public var changes: AsyncStream<Value> {
        (try? stored.get())?.changes ?? AsyncStream { $0.finish() }
    }
}
