internal import HostGround
internal import HostStores
public import LocalDataAPI
internal import Synchronization

/// The value of a ``Stored`` property, in memory and in its store.
public final class StoredValue<Value: Codable & Sendable>: Sendable {
    private struct State {
        var value: Value
        var isLoaded = false
        /// Counts the values set here, so that a value read or queued earlier is known to be older.
        var revision = 0
        /// The last write that was queued.
        var writing: Task<Void, any Error>?
        /// Why the last write failed, until a call has reported it.
        var failure: (any Error)?
        var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
        var nextListener = 0
        var following: Task<Void, Never>?

        /// Puts a value into memory and reports the change.
        mutating func show(_ value: Value) {
            self.value = value
            for listener in listeners.values { listener.yield(value) }
        }
    }

    /// The key that stores it.
    public let key: StorageKey<Value>
    /// The value while nothing is stored.
    public let defaultValue: Value
    let router: StorageRouter
    private let state: Mutex<State>

    init(_ key: StorageKey<Value>, default value: Value, router: StorageRouter) {
        self.key = key
        defaultValue = value
        self.router = router
        state = Mutex(State(value: value))
    }

    deinit {
        state.withLock { $0.following }?.cancel()
        PendingWrites.abandon(ObjectIdentifier(self))
    }

    /// The value in memory; setting it queues a write.
    public var value: Value {
        get { state.withLock { $0.value } }
        set { set(newValue) }
    }

    /// Whether the stored value has been read.
    public var isLoaded: Bool { state.withLock { $0.isLoaded } }

    /// Reads the stored value, after running the key's migration; the default stays if it is absent. A value that was
    /// set here before or meanwhile stays, too.
    ///
    /// - Throws: What reading or migrating throws; the value in memory stays, and nothing is written before a later
    ///   load succeeds. What an earlier write threw, if no call has reported it yet.
    public func load() async throws {
        try await read()
        if let failure = takeFailure() { throw failure }
    }

    /// Why the last write failed, if no call has reported it yet; from now on, one has.
    func takeFailure() -> (any Error)? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    private func read() async throws {
        let revision = currentRevision
        show(try await router.stored(key), loadedAt: revision)
    }

    /// The number of values set here so far; -1 while one of them is not written yet, since what is read meanwhile may
    /// be older.
    var currentRevision: Int { state.withLock { $0.writing == nil ? $0.revision : -1 } }

    /// Takes over what is stored, unless a value was set here since a revision.
    func show(_ stored: Value?, loadedAt revision: Int) {
        state.withLock { state in
            state.isLoaded = true
            if state.following == nil, !state.listeners.isEmpty { state.following = follow() }
            guard state.revision == revision, revision == 0 || state.writing == nil else { return }
            state.show(stored ?? defaultValue)
        }
    }

    /// Waits until all values set so far are written.
    ///
    /// - Throws: What the last write threw.
    public func save() async throws {
        do { try await state.withLock { $0.writing }?.value } catch {
            _ = takeFailure()
            throw error
        }
    }

    /// The values that it gets from now on: those that are set here, those that are loaded, and those that other parts
    /// of the program or other processes store. If several arrive while the reader is busy, it gets the last one. The
    /// sequence ends with its task.
    public var changes: AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            let number = state.nextListener
            state.nextListener += 1
            state.listeners[number] = continuation
            continuation.onTermination = { [weak self] _ in self?.forget(number) }
            if state.following == nil { state.following = follow() }
        }
        return stream
    }

    private func set(_ value: Value) {
        state.withLock { state in
            state.revision += 1
            // With the lock held, so that the end of an earlier write does not count as that of this one.
            PendingWrites.begin(ObjectIdentifier(self), of: key) { [router] in router.logAtOnce(.error, "router", $0) }
            state.show(value)
            let (revision, earlier) = (state.revision, state.writing)
            // Not in Swift's pool, whose threads may all be busy when the program ends and waits for this.
            state.writing = Task(executorPreference: IOExecutor.shared) {
                do { try await self.write(value, revision, after: earlier) } catch {
                    self.state.withLock {
                        if $0.revision == revision { PendingWrites.end(ObjectIdentifier(self), error) }
                    }
                    throw error
                }
            }
        }
    }

    /// Writes a value after all earlier ones are written, unless a later one is queued.
    private func write(_ value: Value, _ revision: Int, after earlier: Task<Void, any Error>?) async throws {
        _ = await earlier?.result
        do {
            if !isLoaded { try await read() }
            guard state.withLock({ $0.revision == revision }) else { return }
            // A write that has failed stays, for save().
            try await router.set(value, for: key)
        } catch {
            // Nobody may wait for it.
            state.withLock { if $0.revision == revision { $0.failure = error } }
            if let log = try? await router.snapshot().log {
                let what = (error as? StorageError)?.message ?? "\(error)"
                log(.error, "values", "'\(key.domain)/\(key.name)' was set and could not be stored: \(what)")
            }
            throw error
        }
        state.withLock { state in
            guard state.revision == revision else { return }
            (state.writing, state.failure) = (nil, nil)
            PendingWrites.end(ObjectIdentifier(self))
        }
    }

    private func forget(_ listener: Int) {
        let following = state.withLock { state -> Task<Void, Never>? in
            state.listeners[listener] = nil
            guard state.listeners.isEmpty else { return nil }
            defer { state.following = nil }
            return state.following
        }
        following?.cancel()
    }

    /// Adopts values that others store, as long as someone listens.
    private func follow() -> Task<Void, Never> {
        Task { [weak self, router, key] in
            guard let changes = try? await router.changes(of: key) else {
                // The next load that succeeds tries again.
                self?.state.withLock { if !Task.isCancelled { $0.following = nil } }
                return
            }
            var iterator = changes.makeAsyncIterator()
            while !Task.isCancelled {
                do {
                    guard let stored = try await iterator.next() else { return }
                    self?.take(stored)
                } catch {
                    // The stored bytes are not such a value; the value in memory stays.
                    continue
                }
            }
        }
    }

    /// Adopts the stored value, unless a value that was set here has yet to be written.
    private func take(_ stored: Value?) {
        let value = stored ?? defaultValue
        state.withLock { state in
            guard state.writing == nil, !isSame(value, state.value) else { return }
            state.show(value)
        }
    }

    /// Whether two values have the same bytes: this object's own writes are reported as changes too.
    private func isSame(_ left: Value, _ right: Value) -> Bool {
        guard let left = try? key.serializer.encode(left), let right = try? key.serializer.encode(right) else {
            return false
        }
        return left == right
    }
}
