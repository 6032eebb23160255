internal import FoundationEssentials
public import LocalDataAPI

extension StorageRouter {
    /// Syncs until the task is cancelled: at once, whenever a value changes here or the transport has something new,
    /// and once a minute. A failure is tried again, after a pause that grows up to five minutes.
    ///
    /// - Parameter report: Called after each time, on any thread, also with a failure.
    /// - Throws: `CancellationError`; what cannot become better by waiting, as ``sync()``.
    public func syncContinuously(
        _ report: @escaping @Sendable (Result<SyncReport, StorageError>) -> Void = { _ in }
    ) async throws {
        let device = try await syncDevice()
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watches = try await SyncWatches(device.keys, signal)
        defer { watches.end() }
        let subscription = try await device.subscribe { signal.yield() }
        let timer = Task {
            while (try? await Task.sleep(for: .seconds(60))) != nil { signal.yield() }
        }
        defer { timer.cancel() }
        do {
            try await withTaskCancellationHandler {
                signal.yield()
                try await run(device, signals, signal, watches, report)
            } onCancel: {
                signal.finish()
                device.cancel()
            }
        } catch {
            await device.unsubscribe(subscription)
            throw error
        }
        await device.unsubscribe(subscription)
        throw CancellationError()
    }

    private func run(
        _ device: SyncDevice, _ signals: AsyncStream<Void>, _ signal: AsyncStream<Void>.Continuation,
        _ watches: SyncWatches, _ report: @Sendable (Result<SyncReport, StorageError>) -> Void
    ) async throws {
        var failures = 0
        // What has to be looked at; `nil` for all.
        var due: Set<String>?
        var expiry = ContinuousClock.now
        for await _ in signals {
            do {
                let changed = watches.take()
                if let known = due, let changed { due = known.union(changed) } else { due = nil }
                let result = try await device.sync(due.map { Array($0) })
                (failures, due) = (0, [])
                report(.success(result))
                guard expiry <= .now else { continue }
                await expireSyncConflicts(device.snapshot)
                expiry = .now.advanced(by: .seconds(86_400))
            } catch {
                if error.code == .cancelled, Task.isCancelled { throw CancellationError() }
                guard [.storeUnavailable, .timedOut, .busy, .durabilityUnknown, .noSpace].contains(error.code) else {
                    throw error
                }
                report(.failure(error))
                failures += 1
                let longest = min(300, 0.5 * Double(1 << min(failures, 10)))
                try await Task.sleep(for: .seconds(longest * Double.random(in: 0.5...1)))
                signal.yield()
            }
        }
    }
}
