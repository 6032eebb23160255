internal import Synchronization

/// An open transaction whose changes stay in memory until it commits: what it has seen of the values that it read or
/// changed, and its changes. Nobody waits for such a transaction; its commit is refused if a value has changed since.
///
/// - `Key`: Two keys of one address are equal.
public final class StagedChanges<Key: Hashable & Sendable>: Sendable {
    /// What the transaction makes of a value.
    public enum Change: Sendable {
        /// Stores these bytes, with what is kept beside them.
        case set([UInt8], ValueAttributes?)
        /// Removes the value.
        case remove
    }

    /// A value that the transaction has seen.
    public struct Entry: Sendable {
        /// Its key.
        public let key: Key
        /// The revision when it was first seen; `nil` if there was no value.
        public let revision: Int64?
        /// What becomes of it; `nil` if it was only read.
        public fileprivate(set) var change: Change?
    }

    private struct State {
        var entries: [Entry] = []
        var indices: [Key: Int] = [:]
    }

    private let state = Mutex(State())

    /// Creates a transaction that has seen nothing.
    public init() {}

    /// Passes a value as the transaction sees it; `false` if absent.
    ///
    /// - Parameter read: Passes the stored value, and returns its revision; `nil` if it is absent. Not called if the
    ///   transaction has changed the value.
    public func get(_ key: Key, _ deliver: (RawSpan) -> Void, read: () throws -> Int64?) throws -> Bool {
        switch entry(key)?.change {
        case .set(let value, _):
            value.withUnsafeBytes { deliver($0.bytes) }
            return true
        case .remove: return false
        case nil:
            let revision = try Self.unlessExpired(read)
            noteSeen(key, revision)
            return revision != nil
        }
    }

    /// Stages a value.
    ///
    /// - Parameter revision: The revision of the stored value; `nil` if it is absent. Called if the transaction has not
    ///   seen it before.
    public func set(
        _ key: Key, to value: RawSpan, attributes: ValueAttributes?, over revision: () throws -> Int64?
    ) throws {
        try see(key, revision)
        stage(key, .set(value.withUnsafeBytes { Array($0) }, attributes))
    }

    /// Stages the removal of a value; returns whether the transaction saw one.
    ///
    /// - Parameter revision: As for ``set(_:to:attributes:over:)``.
    public func remove(_ key: Key, over revision: () throws -> Int64?) throws -> Bool {
        try see(key, revision)
        defer { stage(key, .remove) }
        guard let entry = entry(key) else { return false }
        switch entry.change {
        case .set: return true
        case .remove: return false
        case nil: return entry.revision != nil
        }
    }

    /// Returns and forgets all entries, in the order of the first access.
    public func end() -> [Entry] {
        state.withLock { state in
            defer { state = State() }
            return state.entries
        }
    }

    private func entry(_ key: Key) -> Entry? {
        state.withLock { state in state.indices[key].map { state.entries[$0] } }
    }

    /// Records the state of a value before the transaction changes it.
    private func see(_ key: Key, _ revision: () throws -> Int64?) throws {
        if entry(key) == nil { noteSeen(key, try Self.unlessExpired(revision)) }
    }

    private func noteSeen(_ key: Key, _ revision: Int64?) {
        state.withLock { state in
            guard state.indices[key] == nil else { return }
            state.indices[key] = state.entries.count
            state.entries.append(Entry(key: key, revision: revision, change: nil))
        }
    }

    private func stage(_ key: Key, _ change: Change) {
        state.withLock { state in
            if let index = state.indices[key] { state.entries[index].change = change }
        }
    }

    /// In a transaction, a value that has expired is absent.
    private static func unlessExpired(_ read: () throws -> Int64?) throws -> Int64? {
        do { return try read() } catch is ValueExpired { return nil }
    }
}
