internal import ConformanceKit
public import LocalDataAPI
public import LocalDataHost
internal import Synchronization

extension StorageRouter {
    /// A router for an app's tests: one new store in memory serves every domain. It uses no plugin, configuration file
    /// or environment variable. Locks and the journal are in a temporary folder that is removed when the process exits.
    ///
    /// Every key works: nothing leaves the process's memory, so no value is encrypted and neither a crypto provider nor
    /// a keychain is needed. `ld-host audit` and `doctor` report whether a real configuration can apply a key's policy.
    public static func inMemory() async throws -> StorageRouter { try await serving(InMemoryStore()) }

    /// A router whose domains are all served by the test's own store, such as a ``FailingStore``.
    public static func serving<Backend: StorageBackend>(_ store: Backend) async throws -> StorageRouter {
        let name = "\(Backend.component.id) \(routers.wrappingAdd(1, ordering: .relaxed).newValue)"
        let home = try ScratchFolder.ofProcess().path
        let router = StorageRouter(configuration: try .linked(Backend.component.id, home: home), log: SilentLog())
        // The table is exported once per router under its own name, because a name stands for the same table for good.
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(Backend.self) { _, _ in store }))
        return router
    }
}

private let routers = Atomic<Int>(0)
