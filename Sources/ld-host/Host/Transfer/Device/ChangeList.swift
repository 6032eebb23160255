internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// Changes of values and entries for one call of a store.
final class ChangeList {
    let changes: BulkChangeList
    /// The index of the change of sync to which a change of a value belongs.
    private(set) var indices: [Int: Int] = [:]
    private var places: [StorageNamespace: Int] = [:]
    private var attributes: [ValueAttributes: Int] = [:]
    private let keepsAttributes: Bool

    init(_ open: OpenStore, capacity: Int) {
        changes = BulkChangeList(capacity: capacity)
        keepsAttributes = open.store.abilities.attributes != nil
    }

    func addValue(of change: SyncChange, at index: Int, _ key: SyncedKey?) {
        guard change.changesValue, let key else { return }
        let address = key.resolved.address
        var (value, number): (UnsafeRawBufferPointer?, Int?)
        if case .set(let data, let attributes) = change.value {
            value = changes.keep(data)
            if key.resolved.attributes != nil { number = self.number(of: attributes) }
        }
        indices[changes.count] = index
        changes.add(
            self.number(of: address.place), changes.keep(address.name.utf8), value, attributes: number,
            expected: change.expected?.mark ?? 0)
    }

    func addEntry(of change: SyncChange, isNew: Bool) {
        guard let entry = change.entry else { return isNew ? () : add(SyncPlace.entryPrefix + change.name, nil) }
        add(SyncPlace.entryPrefix + change.name, entry.encoded(), expected: isNew ? 0 : nil)
    }

    /// Adds what sync itself keeps.
    func add(_ name: String, _ value: Data?, expected: UInt64? = nil) {
        changes.add(
            number(of: HostSettings.syncNamespace), changes.keep(name.utf8), value.map { changes.keep($0) },
            attributes: keepsAttributes && value != nil ? number(of: SyncPlace.attributes) : nil, expected: expected)
    }

    private func number(of place: StorageNamespace) -> Int {
        if let known = places[place] { return known }
        let number = changes.add(place)
        places[place] = number
        return number
    }

    private func number(of attributes: ValueAttributes) -> Int {
        if let known = self.attributes[attributes] { return known }
        let number = changes.add(attributes)
        self.attributes[attributes] = number
        return number
    }
}
