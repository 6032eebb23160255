internal import FoundationEssentials
internal import Glibc
public import LocalDataAPI
public import LocalDataHost
internal import Synchronization

/// A temporary folder for the stores of one run.
package struct ScratchFolder: Sendable {
    package let path: String

    /// Creates the folder; other users cannot read it.
    package init() throws(StorageError) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/localdata-conformance.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StorageError(
                .fileError, "no folder can be created in '\(base)': \(String(cString: strerror(errno)))",
                hint: "set TMPDIR to a writable folder")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The folder of this process, removed when the process exits.
    package static func ofProcess() throws(StorageError) -> ScratchFolder {
        try shared.withLock { (shared) throws(StorageError) in
            if let shared { return shared }
            let made = try ScratchFolder()
            atexit(removeShared)
            shared = made
            return made
        }
    }

    /// Removes the folder with its contents.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }
}

private let shared = Mutex<ScratchFolder?>(nil)

private func removeShared() { shared.withLock { $0?.remove() } }

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
