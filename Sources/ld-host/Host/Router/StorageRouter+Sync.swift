internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
internal import HostSync
public import HostTransfer
public import LocalDataAPI
internal import Synchronization

/// Sync: the values of registered keys with a sync policy converge on all devices of a group. What carries them sees
/// neither names nor values: see `SyncTransport`.
///
/// ```swift
/// try await router.syncGroup.create(named: "desk")       // on the first device
/// let code = try await router.syncGroup.invite().code
/// try await router.syncGroup.join(code, named: "laptop") // on the second one
/// try await router.syncContinuously()                    // on both, until the task is cancelled
/// ```
///
/// Of two versions of a value the later one wins on every device. The other one is kept for the days of
/// `migrations.grace`: see ``SyncGroupManagement/conflicts()``. Any order of starts converges, and a device may be away
/// for as long as `sync.forget` says.
extension StorageRouter {
    /// Publishes what has changed on this device, and takes over what others have published.
    ///
    /// - Parameter isFromStart: Whether to read everything that the transport has, and not only what is new, and to
    ///   publish again those records of this device that it has lost. Takes time that grows with the number of values.
    /// - Throws: `notFound` if this device is in no group; `permissionDenied` if it was removed; `storeUnavailable` if
    ///   the other side cannot be reached; `securityApplicationFailed` if it has keys of a group, but no record of it:
    ///   see ``SyncGroupManagement/recover()``; whatever a store reports. What was not done is done by the next call.
    @discardableResult
    public func sync(fromStart isFromStart: Bool = false) async throws -> SyncReport {
        try await following { try await syncOnce(fromStart: isFromStart) }
    }

    private func syncOnce(fromStart isFromStart: Bool) async throws -> SyncReport {
        let known = try await syncDevice()
        _ = try await bringEarlierValues(known)
        var (device, report) = try await syncing(on: known) { (device) throws(StorageError) in
            try await device.sync { (turn) throws(StorageError) in if isFromStart { try turn.engine.startOver() } }
        }
        // Of what others have published, and this sync has received.
        let brought = try await bringEarlierValues(device)
        if !brought.isEmpty {
            let (changed, conflicts) = (report.changed, report.conflicts)
            report = try await device.publish(brought)
            (report.changed, report.conflicts) = (changed + report.changed, conflicts + report.conflicts)
        }
        await expireSyncConflicts(try await snapshot())
        return report
    }

    /// Removes the values that lost whose time is over.
    func expireSyncConflicts(_ snapshot: RouterSnapshot) async {
        await Quarantine(access: StoreAccess(snapshot: snapshot), kind: .conflict)
            .expire(after: snapshot.settings.migrationGrace)
    }

    /// Does what ``sync(fromStart:)`` does if this device is in a group, and logs a failure: for the start of an app.
    ///
    /// - Returns: `nil` if there is no transport, the device is in no group, or sync failed. It logs that there is no
    ///   transport if keys of the catalogs have a sync policy.
    @discardableResult
    public func syncRegisteredKeysIfNeeded() async -> SyncReport? {
        guard let snapshot = try? await snapshot() else { return nil }
        guard snapshot.transport != nil else {
            for finding in snapshot.unsyncedKeys { snapshot.log(.info, "sync", finding.text) }
            return nil
        }
        do { return try await sync() } catch {
            let failure = error as? StorageError
            if failure?.code != .notFound {
                snapshot.log(.warning, "sync", failure.map { "\($0)" } ?? "\(error)")
            }
            return nil
        }
    }

    /// Publishes the value of a key with the policy `manual`, and syncs.
    ///
    /// - Throws: `dataTooLargeForSync` if the transport cannot carry it; `unsupported` if the key does not take part;
    ///   what ``sync(fromStart:)`` throws.
    @discardableResult
    public func sync<Value>(_ key: StorageKey<Value>) async throws -> SyncReport { try await sync(AnyStorageKey(key)) }

    /// The same for a key without its type.
    @discardableResult
    public func sync(_ key: AnyStorageKey) async throws -> SyncReport {
        let address = "\(try await resolve(KeyReference(key)).address)"
        return try await following {
            try await syncDevice().sync([address]) { (turn) throws(StorageError) in try turn.engine.request(address) }
        }
    }
}

// Without an end.
extension StorageRouter {
    /// Syncs until the task is cancelled: at once, whenever a value changes here or the transport has something new,
    /// and once a minute. A failure is tried again, after a pause that grows up to five minutes.
    ///
    /// - Parameter report: Called after each time, on any thread, also with a failure.
    /// - Throws: `CancellationError`; errors that waiting cannot fix, as ``sync(fromStart:)``.
    public func syncContinuously(
        _ report: @escaping @Sendable (Result<SyncReport, StorageError>) -> Void = { _ in }
    ) async throws {
        var device = try await syncDevice()
        while true { device = try await sync(device, report) }
    }

    /// - Returns: The device that goes on: other keys can take part by now, or some cannot any more.
    private func sync(
        _ device: SyncDevice, _ report: @escaping @Sendable (Result<SyncReport, StorageError>) -> Void
    ) async throws -> SyncDevice {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watches = try await SyncWatches(device.keys, signal)
        defer { watches.end() }
        let news = SyncNews(signal)
        let subscription = try await device.subscribe { news.add() }
        let timer = Task {
            while (try? await Task.sleep(for: .seconds(60))) != nil { news.add() }
        }
        defer { timer.cancel() }
        let next: SyncDevice?
        do {
            next = try await withTaskCancellationHandler {
                news.add()
                return try await run(device, signals, news, watches, report)
            } onCancel: {
                signal.finish()
                device.cancel()
            }
        } catch {
            await end(device, subscription)
            throw error
        }
        await end(device, subscription)
        guard let next else { throw CancellationError() }
        return next
    }

    private func end(_ device: SyncDevice, _ subscription: TransportSubscription) async {
        await device.unsubscribe(subscription)
        // The next process finds it out by itself.
        _ = try? await device.saveDue()
    }

    /// - Returns: The device that goes on; `nil` if the task was cancelled.
    private func run(
        _ device: SyncDevice, _ signals: AsyncStream<Void>, _ news: SyncNews, _ watches: SyncWatches,
        _ report: @Sendable (Result<SyncReport, StorageError>) -> Void
    ) async throws -> SyncDevice? {
        var (failures, hasWorked) = (0, false)
        // What has to be looked at; `nil` for all.
        var due: Set<String>?
        var expiry = ContinuousClock.now
        for await _ in signals {
            if let next = try? await deviceWithMore(than: device) { return next }
            do {
                let changed = watches.take()
                if let known = due, let changed { due = known.union(changed) } else { due = nil }
                let (current, result) = try await syncing(on: device) { (device) throws(StorageError) in
                    try await sync(device, due, news)
                }
                (failures, due, hasWorked) = (0, [], true)
                news.saveLater(current)
                report(.success(result))
                guard current === device else { return current }
                let brought = try await bringEarlierValues(device)
                if !brought.isEmpty {
                    due = Set(brought)
                    news.add()
                }
                guard expiry <= .now else { continue }
                await expireSyncConflicts(device.snapshot)
                expiry = .now.advanced(by: .seconds(86_400))
            } catch {
                let error = StorageError(wrapping: error)
                if error.isSuperseded { return try await syncDevice() }
                if error.code == .cancelled, Task.isCancelled { throw CancellationError() }
                guard await mayPass(error, of: device, hasWorked) else { throw error }
                report(.failure(error))
                failures += 1
                let longest = min(300, 0.5 * Double(1 << min(failures, 10)))
                try await Task.sleep(for: .seconds(longest * Double.random(in: 0.5...1)))
                news.add()
            }
        }
        return nil
    }

    /// Whether an error may be over by itself. A transport that has accepted this device and refuses it now may be one
    /// whose credentials are being renewed, unless the device is no member any more.
    private func mayPass(_ error: StorageError, of device: SyncDevice, _ hasWorked: Bool) async -> Bool {
        if [.storeUnavailable, .timedOut, .busy, .durabilityUnknown, .noSpace].contains(error.code) { return true }
        guard error.code == .permissionDenied, hasWorked else { return false }
        return (try? await device.report()) != nil
    }

    /// - Parameter due: The addresses of values that may have changed here; `nil` for all.
    private func sync(
        _ device: SyncDevice, _ due: Set<String>?, _ news: SyncNews
    ) async throws(StorageError) -> SyncReport {
        if news.take() { return try await device.sync(due.map { Array($0) }, savesAll: news.takeSaving()) }
        guard let due else { return try await device.sync(savesAll: false) }
        return try await device.publish(Array(due))
    }
}
