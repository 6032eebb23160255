internal import Synchronization

/// The value of a ``Setting``, in memory and in its store.
public final class SettingValue<Value: Codable & Sendable>: Sendable {
    private struct State {
        var backing: (any SettingBacking<Value>)?
        /// What was set before there was a store.
        var waiting: Value?
        var listeners: [AsyncStream<Value>.Continuation] = []
    }

    /// The value while nothing is stored.
    public let defaultValue: Value
    private let state = Mutex(State())

    init(_ value: Value) { defaultValue = value }

    /// The value in memory; setting it queues a write, or lets it wait until the container is open.
    public var value: Value {
        get { state.withLock { $0.backing?.value ?? $0.waiting ?? defaultValue } }
        set {
            state.withLock { state in
                guard let backing = state.backing else { return state.waiting = newValue }
                backing.value = newValue
            }
        }
    }

    /// Whether the stored value has been read.
    public var isLoaded: Bool { state.withLock { $0.backing }?.isLoaded ?? false }

    /// Reads the stored value again.
    ///
    /// - Throws: `unsupported` if the container is not open; what reading throws; what an earlier write of a setting of
    ///   the container threw, if no call has reported it yet.
    public func load() async throws { try await opened("loaded").load() }

    /// Waits until all values set so far are written.
    ///
    /// - Throws: `unsupported` if the container is not open; what the last write threw, or one of another setting of
    ///   the container, if no call has reported it yet.
    public func save() async throws { try await opened("saved").save() }

    /// The values that it gets from now on, also before the container is open; see `StoredValue.changes`.
    public var changes: AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let backing = state.withLock { state in
            if state.backing == nil { state.listeners.append(continuation) }
            return state.backing
        }
        if let backing { Self.forward(backing, to: continuation) }
        return stream
    }

    private func opened(_ what: String) throws(StorageError) -> any SettingBacking<Value> {
        guard let backing = state.withLock({ $0.backing }) else {
            throw StorageError(
                .unsupported, "a setting cannot be \(what), as its container is not open",
                hint: "get the container with: try await CONTAINER.open()")
        }
        return backing
    }

    /// Connects it to its store, reads what is stored, and writes what waits. Once only.
    func bind(_ make: (Value) -> any SettingBacking<Value>) async throws {
        let (backing, waiting, listeners) = state.withLock { state in
            let backing = state.backing ?? make(defaultValue)
            defer { state = State(backing: backing) }
            return (backing, state.waiting, state.listeners)
        }
        for listener in listeners { Self.forward(backing, to: listener) }
        if let waiting { backing.value = waiting }
        try await backing.load()
        if waiting != nil { try await backing.save() }
    }

    private static func forward(_ backing: any SettingBacking<Value>, to listener: AsyncStream<Value>.Continuation) {
        let changes = backing.changes
        let task = Task {
            for await value in changes { listener.yield(value) }
            listener.finish()
        }
        listener.onTermination = { _ in task.cancel() }
    }
}
