internal import HostGround
internal import HostPlugins
package import HostStores
package import LocalDataAPI
internal import Synchronization

/// Lets one migration at a time run into a store. Those of this process run in the order of their calls, without
/// holding a thread. Processes with the same state folder share the lock of a file. A store whose folder has several
/// spellings has a second such lock, which all of them share. Users with other state folders may share the folder of an
/// app group, so the folder of a namespace is locked, too. A store that machines share has locks of its own.
package final class MigrationTurns: Sendable {
    /// The turns of this process, whatever the number of its routers.
    package static let shared = MigrationTurns()

    /// A lock that is held while this value lives.
    private final class Hold: Sendable {
        private let file: LockedFile
        private let shared: LockedFile?
        private let folder: LockedFile?
        private let store: HeldStoreLock?
        private let work: SteadyWork

        init(
            _ lock: FileLock, _ shared: FileLock?, _ folder: FileLock?, _ store: LoadedStore, _ snapshot: RouterSnapshot
        ) throws(StorageError) {
            // Values that are on the way to another store, or have arrived there, are looked for in vain. It comes
            // first: others who have it may wait for the locks.
            work = try SteadyWork(
                in: snapshot.settings.folders.state, within: MigrationTurns.patience)
            file = try lock.hold()
            self.shared = try shared?.hold()
            self.folder = try folder?.holdFolder()
            self.store =
                store.abilities.lock == nil
                ? nil : try HeldStoreLock("migrations", of: store, waiting: MigrationTurns.patience)
            try snapshot.requireCurrent()
        }
    }

    /// How long to wait for a migration of another process: one of many values takes minutes.
    private static let patience: Duration = .seconds(600)

    private let waiting = Mutex<[String: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs body while no other migration into the store runs, and no store is switched.
    ///
    /// - Parameter place: The destination's namespace, whose folder is locked if it has one.
    /// - Throws: `permissionDenied`, `noSpace` or `fileError` if the lock cannot be taken, `busy` if another process
    ///   holds it for longer than ten minutes; ``StorageError/superseded`` if another store serves a domain by now than
    ///   in the snapshot; what body throws.
    func alone<Result>(
        in store: OpenStore, _ snapshot: RouterSnapshot, at place: StorageNamespace? = nil,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let path = "\(snapshot.settings.folders.migrations)/\(String(store.identity, radix: 16)).lock"
        await take(path)
        defer { give(path) }
        // Always the second: its holder waits for no lock that is taken before it.
        let shared = try await onIOThread { () throws(StorageError) in store.location.sharedName(of: store.component) }
            .map { "\(snapshot.settings.folders.migrations)/place-\($0).lock" }
        if let shared { await take(shared) }
        defer { if let shared { give(shared) } }
        // Only one of this process waits for the lock, so that those who wait never hold all threads.
        let folder = place?.directory.map { FileLock($0, patience: Self.patience) }
        let hold = try await onIOThread { () throws(StorageError) in
            try Hold(
                FileLock(path, patience: Self.patience), shared.map { FileLock($0, patience: Self.patience) }, folder,
                store.store, snapshot)
        }
        defer { withExtendedLifetime(hold) {} }
        return try await body()
    }

    /// The same once batches that were interrupted are complete: one that was decided and is not all in place would be
    /// taken for no change.
    package func alone<Result>(
        in store: OpenStore, completingBatchesOf snapshot: RouterSnapshot, at place: StorageNamespace? = nil,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await alone(in: store, snapshot, at: place) {
            try await onIOThread { () throws(StorageError) in BatchRecovery(snapshot: snapshot).recoverAndSettle() }
            return try await body()
        }
    }

    /// The same for calls that may wait.
    func alone<Value: Sendable>(
        in store: OpenStore, completingBatchesOf snapshot: RouterSnapshot,
        blocking body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await alone(in: store, completingBatchesOf: snapshot) {
            try await onIOThread { () throws(StorageError) in Result { try body() } }.get()
        }
    }

    private func take(_ name: String) async {
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            let isFree = waiting.withLock { waiting in
                guard waiting[name] != nil else {
                    waiting[name] = []
                    return true
                }
                waiting[name]?.append(turn)
                return false
            }
            if isFree { turn.resume() }
        }
    }

    private func give(_ name: String) {
        let next: CheckedContinuation<Void, Never>? = waiting.withLock { waiting in
            guard let first = waiting[name]?.first else {
                waiting[name] = nil
                return nil
            }
            waiting[name]?.removeFirst()
            return first
        }
        next?.resume()
    }
}
