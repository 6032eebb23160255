internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// The keys that restored values belong to, as far as they are recorded.
final class RestoredPlaces {
    private var ordered: [(order: UInt64, event: PlaceEvent, entry: PlaceEntry)] = []

    /// What happened with the values, in its order.
    var events: [(event: PlaceEvent, entry: PlaceEntry)] {
        // Equal positions are those of one value, which `add` has put in order.
        ordered.enumerated().sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
            .map { (event: $0.element.event, entry: $0.element.entry) }
    }

    func add(_ item: BackupItem, at place: StorageNamespace, isSealed: Bool, of settings: HostSettings) {
        guard let owner = item.attributes.owner, !owner.isEmpty else { return }
        let serializer = item.attributes.serializer.flatMap { SerializerFormat(rawValue: $0) } ?? .data
        let key = StorageKeyDescriptor(
            name: item.name, domain: .custom(name: place.domain, scope: place.scope),
            security: isSealed
                ? .recommended : (try? StorageDomain(name: place.domain, scope: nil))?.ownPolicy ?? .none,
            serializer: serializer, owner: owner, description: "")
        func add(_ event: PlaceEvent, _ order: UInt64, of app: String) {
            ordered.append((order, event, PlaceEntry(key, at: place, of: app)))
        }
        for holder in item.holders {
            if holder.found > 0 || holder.set == 0 { add(.found, holder.found, of: holder.app) }
            if holder.set > 0 { add(.set, holder.set, of: holder.app) }
            if holder.left > 0 { add(.left, holder.left, of: holder.app) }
            if holder.removed > 0 { add(.removed, holder.removed, of: holder.app) }
            if holder.isApart { add(.apart, max(holder.found, holder.set), of: holder.app) }
        }
        // Who restores may be another program than the app that the value belongs to. A suite's name may be an app's.
        if item.holders.isEmpty { add(.found, .max, of: place.app ?? settings.appID) }
    }
}
