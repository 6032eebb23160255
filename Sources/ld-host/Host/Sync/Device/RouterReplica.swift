internal import FoundationEssentials
internal import LocalDataAPI

/// The values of the keys that take part in sync, in the stores that the configuration maps their domains to.
///
/// A key's entry, and a record that is kept aside, lie in the store of its value, so that they change as one with it;
/// those of keys that this device does not know lie in the home store, with ``progress()``. A lost value is kept in
/// quarantine, sealed as the value is. Calls may wait.
final class RouterReplica: SyncReplica {
    let keys: [SyncKey]
    private let snapshot: RouterSnapshot
    private let home: OpenStore
    private let group: MemberGroup
    private let byAddress: [String: SyncedKey]
    /// The stores of known entries, by the entries' names.
    private var stores: [String: OpenStore] = [:]

    /// - Parameter home: A store whose values outlive the process.
    init(_ keys: [SyncedKey], home: OpenStore, of group: MemberGroup, _ snapshot: RouterSnapshot) {
        self.keys = keys.map { SyncKey(address: $0.address, policy: $0.key.descriptor.syncPolicy) }
        byAddress = Dictionary(keys.map { ($0.address, $0) }) { first, _ in first }
        (self.home, self.group, self.snapshot) = (home, group, snapshot)
    }

    func read(_ address: String) throws(StorageError) -> LocalValue? {
        guard let key = byAddress[address] else { return nil }
        let value = key.value
        return try key.resolved.open.repeating { () throws(StorageError) in
            guard let data = try value.get() else { return nil }
            let attributes = try value.attributes() ?? ValueAttributes()
            return LocalValue(data: data, attributes: key.kept(attributes), mark: nil)
        }
    }

    func canUse(_ value: Data, _ attributes: ValueAttributes, at address: String) -> Bool {
        byAddress[address]?.canUse(value, attributes) ?? false
    }

    func kept(_ attributes: ValueAttributes, at address: String) -> ValueAttributes {
        byAddress[address]?.kept(attributes) ?? attributes
    }

    /// What a store cannot change as one is staged in the journal, and completed after a crash.
    func isAtomic(_ address: String) -> Bool { true }

    func forEachEntry(_ body: (String, SyncEntry) throws(StorageError) -> Void) throws(StorageError) {
        var open = [home]
        for key in byAddress.values where !open.contains(where: { $0 === key.resolved.open }) {
            open.append(key.resolved.open)
        }
        for store in open {
            for name in try names(in: store) {
                let place = try SyncPlace.entry(name, in: store)
                guard let data = try place.valueNow() else { continue }
                guard let entry = SyncEntry(data) else {
                    throw StorageError(
                        .corrupt, "what sync knows of a value, '\(place.address)' in store '\(store.name)', is damaged",
                        hint: "restore the store from a backup, or leave the group and join again")
                }
                stores[name] = store
                try body(name, entry)
            }
        }
    }

    private func names(in store: OpenStore) throws(StorageError) -> [String] {
        try store.repeating { () throws(StorageError) in
            var names: [String] = []
            try store.store.forEachName(in: HostSettings.syncNamespace, prefix: SyncPlace.entryPrefix) {
                names.append(String($0.dropFirst(SyncPlace.entryPrefix.count)))
                return true
            }
            return names
        }
    }

    func parked(_ name: String) throws(StorageError) -> Data? {
        guard let sealed = try SyncPlace.parked(name, in: stores[name] ?? home).valueNow() else { return nil }
        return try group.openOwn(sealed, name: name)
    }

    func progress() throws(StorageError) -> Data? { try SyncPlace.progress(in: home).valueNow() }

    func saveProgress(_ data: Data) throws(StorageError) { try SyncPlace.progress(in: home).setNow(data) }
}

// Changes.
extension RouterReplica {
    func commit(_ changes: [SyncChange]) throws(StorageError) -> [Int] {
        var byStore: [ObjectIdentifier: [Int]] = [:]
        for (index, change) in changes.enumerated() {
            byStore[ObjectIdentifier(store(of: change)), default: []].append(index)
        }
        var refused: [Int] = []
        for indices in byStore.values { refused += try commit(indices, of: changes) }
        return refused
    }

    private func store(of change: SyncChange) -> OpenStore {
        byAddress[change.address]?.resolved.open ?? home
    }

    /// Makes the changes of one store, all or none but those whose value is another one now.
    private func commit(_ indices: [Int], of changes: [SyncChange]) throws(StorageError) -> [Int] {
        for _ in 0..<Self.attempts {
            var views: [AtomicScope: StoreView] = [:]
            var (batch, refused) = ([BatchChange](), [Int]())
            for index in indices {
                if try isExpected(changes[index], &views) {
                    batch += try parts(of: changes[index])
                } else {
                    refused.append(index)
                }
            }
            let run = BatchRun(snapshot: snapshot, changes: batch, views: Array(views.values), progress: {})
            if !batch.isEmpty { guard try run.run() else { continue } }
            for index in indices where !refused.contains(index) {
                let change = changes[index]
                stores[change.name] = change.entry == nil ? nil : store(of: change)
            }
            return refused
        }
        throw StorageError(.busy, "values changed again and again while sync changed them", hint: "try again")
    }

    /// How often changes are tried whose values others change meanwhile.
    private static let attempts = 8

    private func isExpected(
        _ change: SyncChange, _ views: inout [AtomicScope: StoreView]
    ) throws(StorageError) -> Bool {
        guard change.changesValue, let key = byAddress[change.address] else { return true }
        let scope = key.resolved.scope
        let view = if let known = views[scope] { known } else { try StoreView(scope) }
        views[scope] = view
        let stored = try view.read(key.resolved)
        let value = try stored.map { (stored) throws(StorageError) in try key.value.open(stored) }
        return value == change.expected?.data
    }

    /// What is written for a change: entry, value, lost value, and the record that is kept aside.
    private func parts(of change: SyncChange) throws(StorageError) -> [BatchChange] {
        let store = store(of: change)
        var parts = [try SyncPlace.entry(change.name, in: store).changing(to: change.entry?.encoded())]
        if let old = stores[change.name], old !== store {
            // The key was not known before.
            parts.append(try SyncPlace.entry(change.name, in: old).changing(to: nil))
            if case .keep = change.parked {
            } else {
                parts.append(try SyncPlace.parked(change.name, in: old).changing(to: nil))
            }
        }
        if let key = byAddress[change.address] {
            switch change.value {
            case .keep: break
            case .set(let data, let attributes):
                let attributes = key.resolved.attributes == nil ? nil : attributes
                parts.append(try key.resolved.writing(attributes).changing(to: data))
            case .remove: parts.append(key.resolved.changing(to: nil))
            }
            if let loser = change.loser {
                parts += try Quarantine(access: StoreAccess(snapshot: snapshot), kind: .conflict).changes(
                    keeping: loser.data, loser.attributes, of: key.key, key.resolved,
                    reason: "lost against another device's version; it was written by device \(loser.version.author)")
            }
        }
        switch change.parked {
        case .keep: break
        case .set(let data):
            let sealed = try group.seal(data, name: change.name)
            parts.append(try SyncPlace.parked(change.name, in: store).changing(to: sealed))
        case .discard: parts.append(try SyncPlace.parked(change.name, in: store).changing(to: nil))
        }
        return parts
    }
}
