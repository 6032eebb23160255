public import LocalDataAPI
public import LocalDataHost
internal import Synchronization

extension StorageRouter {
    /// A router for tests of an app: every domain is served by one new store in memory; no plugin, no configuration
    /// file and no variable counts. Locks and the journal are in a temporary folder, which goes away with the process.
    ///
    /// Every key can be used: as nothing leaves the process's memory, no value is encrypted, and neither a crypto
    /// provider nor a keychain is needed. Whether a configuration can apply a key's policy is what `ld-host audit` and
    /// `doctor` report.
    public static func inMemory() async throws -> StorageRouter { try await serving(InMemoryStore()) }

    /// A router that serves every domain by a store that the test holds, such as a ``FailingStore``.
    public static func serving<Backend: StorageBackend>(_ store: Backend) async throws -> StorageRouter {
        let name = "\(Backend.component.id) \(routers.wrappingAdd(1, ordering: .relaxed).newValue)"
        let home = try ScratchFolder.ofProcess().path
        let router = StorageRouter(configuration: try .linked(Backend.component.id, home: home), log: SilentLog())
        // The table is exported once for each router, under a name of its own: a name stands for one table for good.
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(Backend.self) { _, _ in store }))
        return router
    }
}

private let routers = Atomic<Int>(0)
