internal import FoundationEssentials
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// The contents of an ``InMemoryStore``.
package final class InMemoryContents: Sendable {
    struct Entry: Sendable {
        let data: Data
        let attributes: ValueAttributes

        /// Whether its time is over.
        var isExpired: Bool { attributes.expires.map { $0 <= Moment.now } ?? false }
    }
    private struct State {
        var entries: [StorageAddress: Entry] = [:]
        /// Increases with each change of an address; the entry stays when the value is removed.
        var versions: [StorageAddress: UInt64] = [:]

        /// The value of an address, unless it has expired.
        func present(_ key: StorageAddress) -> Entry? { entries[key].flatMap { $0.isExpired ? nil : $0 } }
    }
    private struct Watcher {
        let place: StorageNamespace
        let prefix: String
        let changed: @Sendable (String?) -> Void
    }
    private let state = Mutex(State())
    /// Locked while watchers are notified, so that no watcher is called after its watch has ended.
    private let watchers = Mutex((next: 0, list: [Int: Watcher]()))

    private let locks = Mutex<[StorageAddress: InMemoryLock]>([:])

    package init() {}

    /// Takes a lock; `false` if another of its name is held.
    func take(_ lock: InMemoryLock) -> Bool {
        locks.withLock { locks in
            guard locks[lock.address] == nil else { return false }
            locks[lock.address] = lock
            return true
        }
    }

    func holds(_ lock: InMemoryLock) -> Bool { locks.withLock { $0[lock.address] === lock } }

    func giveBack(_ lock: InMemoryLock) {
        locks.withLock { if $0[lock.address] === lock { $0[lock.address] = nil } }
    }

    /// Whether an address has a value.
    package func holds(_ key: StorageAddress) -> Bool { state.withLock { $0.present(key) } != nil }

    /// The value of an address.
    func entry(_ key: StorageAddress) throws(ValueExpired) -> Entry? {
        guard let entry = state.withLock({ $0.entries[key] }) else { return nil }
        if entry.isExpired { throw ValueExpired() }
        return entry
    }

    /// A value, unless it has expired, and the number of the change that wrote it.
    func versioned(_ key: StorageAddress) -> (entry: Entry?, version: UInt64) {
        state.withLock { ($0.present(key), $0.versions[key, default: 0]) }
    }

    /// The addresses of values that have not expired.
    var keys: [StorageAddress] { state.withLock { $0.entries.filter { !$0.value.isExpired }.map(\.key) } }

    /// The names of expired values.
    func expired(in place: StorageNamespace) -> [String] {
        state.withLock { $0.entries.filter { $0.key.place == place && $0.value.isExpired }.map(\.key.name) }
    }

    /// Removes expired values, at most `limit`.
    ///
    /// - Returns: Their number.
    func sweep(limit: Int = .max, _ isIncluded: (StorageAddress) -> Bool) -> Int {
        let removed = state.withLock { state in
            let keys = state.entries.filter { $0.value.isExpired && isIncluded($0.key) }.map(\.key).prefix(limit)
            for key in keys {
                state.entries[key] = nil
                state.versions[key, default: 0] += 1
            }
            return Array(keys)
        }
        tell(removed)
        return removed.count
    }

    /// The values of a namespace at one moment, ascending by their names' bytes, each with the number of its last
    /// change.
    func values(
        in place: StorageNamespace, prefix: String, after: String?
    ) -> [(name: String, entry: Entry, version: UInt64)] {
        let values = state.withLock { state in
            var values: [(name: String, entry: Entry, version: UInt64)] = []
            for (key, entry) in state.entries where key.place == place && !entry.isExpired {
                guard key.name.utf8.starts(with: prefix.utf8) else { continue }
                if let after, !after.utf8.lexicographicallyPrecedes(key.name.utf8) { continue }
                values.append((key.name, entry, state.versions[key, default: 0]))
            }
            return values
        }
        return values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Applies changes as one step, unless one of the versions has changed. Returns whether each key had a value
    /// before.
    func change(
        _ changes: [(key: StorageAddress, entry: Entry?)], ifUnchanged versions: [StorageAddress: UInt64] = [:]
    ) throws -> [Bool] {
        let had = try state.withLock { state in
            for (key, version) in versions where state.versions[key, default: 0] != version {
                throw StorageError(.busy, "'\(key)' was changed while the transaction was open")
            }
            return changes.map { key, entry in
                state.versions[key, default: 0] += 1
                defer { state.entries[key] = entry }
                return state.present(key) != nil
            }
        }
        tell(changes.map(\.key))
        return had
    }

    /// Applies changes as one step, if the condition of each is fulfilled when it is applied.
    ///
    /// - Returns: The indices of those whose condition is not; if there are any, nothing has changed.
    func change(
        _ changes: [(key: StorageAddress, entry: Entry?, condition: WriteCondition)]
    ) -> [Int] {
        let conflicts: [Int] = state.withLock { state in
            var next: [StorageAddress: (entry: Entry?, version: UInt64)] = [:]
            var conflicts: [Int] = []
            for (index, (key, entry, condition)) in changes.enumerated() {
                let now = next[key] ?? (state.present(key), state.versions[key, default: 0])
                if condition.isFulfilled(by: now.entry.map { _ in now.version }) {
                    next[key] = (entry, now.version + 1)
                } else {
                    conflicts.append(index)
                }
            }
            guard conflicts.isEmpty else { return conflicts }
            for (key, (entry, version)) in next {
                state.entries[key] = entry
                state.versions[key] = version
            }
            return []
        }
        if conflicts.isEmpty { tell(changes.map(\.key)) }
        return conflicts
    }

    /// Applies one change, if the value fulfils a condition.
    ///
    /// - Returns: The new revision; `nil` if it does not, and then nothing has changed.
    func change(_ key: StorageAddress, to entry: Entry?, if condition: WriteCondition) -> UInt64? {
        let version: UInt64? = state.withLock { state in
            let version = state.versions[key, default: 0]
            guard condition.isFulfilled(by: state.present(key).map { _ in version }) else { return nil }
            state.entries[key] = entry
            state.versions[key] = version + 1
            return version + 1
        }
        if version != nil { tell([key]) }
        return version
    }

    private func tell(_ keys: [StorageAddress]) {
        watchers.withLock { watchers in
            for watcher in watchers.list.values {
                for key in keys
                where key.place == watcher.place && key.name.utf8.starts(with: watcher.prefix.utf8) {
                    watcher.changed(key.name)
                }
            }
        }
    }

    func watch(_ place: StorageNamespace, _ prefix: String, _ changed: @escaping @Sendable (String?) -> Void) -> Int {
        watchers.withLock { watchers in
            watchers.next += 1
            watchers.list[watchers.next] = Watcher(place: place, prefix: prefix, changed: changed)
            return watchers.next
        }
    }

    func unwatch(_ watch: Int) { watchers.withLock { _ = $0.list.removeValue(forKey: watch) } }
}

extension InMemoryContents.Entry {
    /// A value as it is stored now.
    init(_ data: Data, _ attributes: ValueAttributes?) {
        var attributes = attributes ?? ValueAttributes()
        attributes.size = UInt64(data.count)
        attributes.modified = Moment.now
        self.init(data: data, attributes: attributes)
    }
}
