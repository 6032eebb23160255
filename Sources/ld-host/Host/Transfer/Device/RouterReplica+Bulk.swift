internal import FoundationEssentials
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// What stores do at once for many values.
extension RouterReplica {
    /// The keys of one namespace of a store.
    struct KeyGroup {
        let open: OpenStore
        let place: StorageNamespace
        /// Their indexes in ``keys``, by the names of their values.
        var keys: [ExactText: Int] = [:]
    }

    func forEachMark(_ body: (_ key: Int, _ mark: UInt64?) -> Void) throws(StorageError) {
        for group in groups {
            var found: [(key: Int, mark: UInt64)] = []
            let isWhole = try group.open.repeating { () throws(StorageError) in
                found = []
                var others = 0
                try group.open.store.forEachValue(in: group.place, largest: 0) { value in
                    if let key = group.keys[ExactText(String(decoding: value.name, as: UTF8.self))] {
                        found.append((key, value.mark))
                    } else {
                        others += 1
                    }
                    return others <= Self.mostOthers
                }
                return others <= Self.mostOthers
            }
            var isPresent = [Bool](repeating: false, count: isWhole ? keys.count : 0)
            for (key, mark) in found {
                body(key, mark)
                if isWhole { isPresent[key] = true }
            }
            guard isWhole, found.count < group.keys.count else { continue }
            for key in group.keys.values where !isPresent[key] { body(key, nil) }
        }
    }

    /// How many values that no key has are passed over before the keys' values are read one by one.
    private static let mostOthers = 10_000

    /// The keys of each namespace with more than a few, in stores that can list marks.
    func keyGroups() -> [KeyGroup] {
        struct Place: Hashable {
            let open: ObjectIdentifier
            let place: StorageNamespace
        }
        var groups: [Place: KeyGroup] = [:]
        for (index, key) in syncedKeys.enumerated() {
            let (open, address) = (key.resolved.open, key.resolved.address)
            guard address.place.directory == nil, open.store.abilities.bulk != nil,
                open.store.abilities.conditional != nil
            else { continue }
            let place = Place(open: ObjectIdentifier(open), place: address.place)
            groups[place, default: KeyGroup(open: open, place: address.place)].keys[ExactText(address.name)] = index
        }
        return groups.values.filter { $0.keys.count > 16 }
    }

    /// Makes the changes of one store with a single call, in which the store itself compares what is there. Of
    /// thousands of changes, each costs a fraction of one whose value is read before and whose entry has a handle.
    ///
    /// - Returns: The indexes of those that were not made, since the value is not the expected one any more; `nil` if
    ///   this is no case for it, and then nothing has changed.
    func commitAtOnce(
        _ indices: [Int], of changes: [SyncChange], progress: Data?
    ) throws(StorageError) -> [Int]? {
        guard let open = indices.first.map({ store(of: changes[$0]) }), takesAtOnce(open),
            indices.allSatisfy({ isForOnce(changes[$0], open) })
        else { return nil }
        BatchRecovery(snapshot: snapshot).recoverAll()
        var (rest, refused) = (indices, [Int]())
        for _ in 0..<Self.attempts where !rest.isEmpty {
            let list = ChangeList(open, capacity: 2 * rest.count + 2)
            for index in rest { list.addValue(of: changes[index], at: index, key(at: changes[index].address)) }
            for index in rest { list.addEntry(of: changes[index], isNew: stores[changes[index].name] == nil) }
            let saves = progress != nil && refused.isEmpty
            if saves, let progress { list.add(SyncPlace.progressName, progress) }
            if saves, known != saved { list.add(SyncPlace.storesName, known.encoded()) }
            let number = nextNumber(of: open)
            if open !== home { list.add(SyncPlace.changesName, Self.encoded(number)) }
            let conflicts = try open.store.apply(list.changes)
            if conflicts.isEmpty {
                noteChange(in: open, number, savingProgress: saves)
                for index in rest { stores[changes[index].name] = changes[index].entry == nil ? nil : open }
                return refused
            }
            let others = Set(conflicts.compactMap { list.indices[$0] })
            // There is an entry that nobody knew of.
            guard !others.isEmpty else { return refused.isEmpty ? nil : refused + rest }
            refused += others
            rest.removeAll { others.contains($0) }
        }
        return refused
    }

    /// Whether a store compares and changes in one call, and what sync keeps there is not sealed.
    private func takesAtOnce(_ open: OpenStore) -> Bool {
        open.store.abilities.bulk != nil && open.store.abilities.conditional != nil && !open.isKeychain
    }

    private func isForOnce(_ change: SyncChange, _ open: OpenStore) -> Bool {
        guard change.loser == nil, stores[change.name].map({ $0 === open }) ?? true else { return false }
        guard case .keep = change.parked else { return false }
        guard change.changesValue, let key = key(at: change.address) else { return true }
        return key.resolved.layers.isEmpty && key.resolved.address.place.directory == nil
            && (change.expected == nil || change.expected?.mark != nil)
    }
}
