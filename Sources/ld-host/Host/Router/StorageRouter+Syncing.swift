internal import FoundationEssentials
public import LocalDataAPI
internal import Synchronization

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

/// Whether there is a reason to pull: the transport may have something new, or it is time to look.
private final class SyncNews: Sendable {
    private let isThere = Atomic<Bool>(false)
    private let isToSave = Atomic<Bool>(false)
    private let savesNext = Atomic<Bool>(false)
    private let signal: AsyncStream<Void>.Continuation

    init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    func add() {
        isThere.store(true, ordering: .releasing)
        signal.yield()
    }

    /// Whether there was one since the last call.
    func take() -> Bool { isThere.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether the next turn has to save all by itself, since the last call.
    func takeSaving() -> Bool { savesNext.exchange(false, ordering: .acquiringAndReleasing) }

    /// Saves how far sync has come in a second, once for all turns until then: while values change all the time, that
    /// is one write a second and not one for each. What another process that synced meanwhile has kept from being
    /// saved, a turn finds out again and saves: processes that ask once a second do not keep it back for ever.
    func saveLater(_ device: SyncDevice) {
        guard device.isToSave, !isToSave.exchange(true, ordering: .acquiringAndReleasing) else { return }
        Task {
            try? await Task.sleep(for: .seconds(1))
            isToSave.store(false, ordering: .releasing)
            guard (try? await device.saveDue()) != true else { return }
            savesNext.store(true, ordering: .releasing)
            add()
        }
    }
}
