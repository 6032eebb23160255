package import LocalDataAPI

/// The places of one key, and the order of what was done there.
///
/// The order decides which of several values is the key's: a key that has moved forwards and back, or an app that was
/// downgraded and upgraded again, leaves values at several places.
package struct PlaceRecord: Sendable {
    /// A place, and when something was done there last: positions in the history, 0 for never.
    package struct Known: Sendable {
        package fileprivate(set) var entry: PlaceEntry
        fileprivate(set) var found = 0
        package fileprivate(set) var set = 0
        fileprivate(set) var left = 0
        fileprivate(set) var isApart = false

        package var address: StorageAddress { StorageAddress(entry.place, name: entry.name) }
        /// When the place got the value that it has.
        package var last: Int { max(found, set) }
        /// Whether the value that is still here is at another place, too.
        package var wasCopied: Bool { left > last }
    }

    private(set) var places: [Known] = []
    /// When the key's value was removed last, wherever it was.
    package private(set) var removed = 0

    package init() {}

    package subscript(place: StorageNamespace) -> Known? { places.first { $0.entry.place.isSame(as: place) } }

    /// Whether an event adds to what is known.
    func isNews(_ event: PlaceEvent, _ entry: PlaceEntry) -> Bool {
        guard let known = self[entry.place] else {
            return event == .removed ? places.contains { $0.last > removed } : event != .left
        }
        switch event {
        case .declared: return false
        case .found: return known.last == 0 || known.entry != entry || places.contains { $0.last > known.last }
        case .set:
            // What was brought elsewhere since is older from now on.
            let newest = max(removed, places.map(\.last).max() ?? 0)
            return known.set == 0 || known.set < newest || known.entry != entry
        case .removed: return places.contains { $0.last > removed }
        case .left: return known.left <= known.last
        case .apart: return !known.isApart
        }
    }

    /// - Parameter order: The event's position in the history, from 1.
    mutating func apply(_ event: PlaceEvent, _ entry: PlaceEntry, at order: Int) {
        let index: Int
        if let known = places.firstIndex(where: { $0.entry.place.isSame(as: entry.place) }) {
            index = known
        } else {
            index = places.count
            places.append(Known(entry: entry))
        }
        switch event {
        case .declared: if places[index].last == 0 { places[index].entry = entry }
        case .found: (places[index].found, places[index].entry) = (order, entry)
        case .set: (places[index].set, places[index].entry) = (order, entry)
        case .removed: removed = order
        case .left: places[index].left = order
        case .apart: places[index].isApart = true
        }
    }

    /// The events that say the same in fewer lines, in their order.
    var events: [(order: Int, event: PlaceEvent, entry: PlaceEntry)] {
        var events: [(order: Int, event: PlaceEvent, entry: PlaceEntry)] = []
        for known in places {
            if known.last == 0 { events.append((0, .declared, known.entry)) }
            if known.found > 0 { events.append((known.found, .found, known.entry)) }
            if known.set > 0 { events.append((known.set, .set, known.entry)) }
            if known.left > 0 { events.append((known.left, .left, known.entry)) }
            if known.isApart { events.append((known.last, .apart, known.entry)) }
        }
        if removed > 0, let entry = places.first?.entry { events.append((removed, .removed, entry)) }
        return events
    }
}

/// What the order says of a key that is now at one place.
extension PlaceRecord {
    /// The other places that may have the key's value, but for those of other keys.
    package func others(than place: StorageNamespace, of domain: StorageDomain) -> [Known] {
        let isApart = self[place]?.isApart == true
        return places.filter {
            !$0.entry.place.isSame(as: place) && $0.entry.mayHaveHeld(domain, now: place) && !(isApart && $0.isApart)
        }
    }

    /// Whether a value at `place` may be older than one that was stored elsewhere.
    package func isSuspect(_ place: StorageNamespace, of domain: StorageDomain) -> Bool {
        guard let here = self[place], here.last > 0 else { return false }
        return others(than: place, of: domain).contains { $0.set > here.last }
    }

    /// The place from which the value at `place` was brought; `nil` if it was stored there.
    package func origin(of place: StorageNamespace, _ domain: StorageDomain) -> Known? {
        guard let here = self[place], here.found > max(here.set, removed) else { return nil }
        return others(than: place, of: domain).filter { $0.wasCopied && $0.left < here.found }.max { $0.left < $1.left }
    }

    /// The same with the places of another record that this one does not have.
    package func adding(_ other: PlaceRecord) -> PlaceRecord {
        var sum = self
        sum.places += other.places.filter { self[$0.entry.place] == nil }
        return sum
    }

    /// Whether the value at one place is newer than the last change of the key at another.
    package func isNewer(_ known: Known, thanAt place: StorageNamespace) -> Bool {
        guard let here = self[place], here.set > 0 || removed > 0 else { return false }
        return known.set > max(here.set, removed)
    }

    /// Of places that all have a value, those that may have the key's: one, unless nothing shows that their values
    /// belong to one key.
    package func latest(of known: [Known]) -> [Known] {
        // What was removed at one place does not come back from the copy at another that it was brought from.
        var left = known.filter { $0.left == 0 || $0.last > removed }
        guard left.count > 1 else { return left }
        // A copy that nobody has changed since is older than a change of its original.
        let lastSet = left.map(\.set).max() ?? 0
        let changed = left.filter { $0.set > 0 || $0.found > lastSet }
        if !changed.isEmpty { left = changed }
        let current = left.filter { $0.left < $0.last || $0.left == 0 }
        if !current.isEmpty { left = current }
        guard left.count > 1, left.count(where: { $0.left == 0 }) <= 1 else { return left }
        return left.max { $0.last < $1.last }.map { [$0] } ?? []
    }
}
