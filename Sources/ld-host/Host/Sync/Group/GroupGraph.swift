internal import LocalDataAPI

/// The entries of a log whose parents are all known, as a graph without cycles.
///
/// Each entry has a number, which depends on the order of arrival. What depends on the set of entries alone is
/// ``order``.
package struct GroupGraph: Sendable {
    package private(set) var entries: [GroupEntry] = []
    /// The author of each entry.
    private(set) var authors: [DeviceID] = []
    private var numbers: [EntryID: Int] = [:]
    /// The longest way from the genesis.
    private var depths: [UInt32] = []
    /// How many epochs were started at the most before an entry and by it, one after the other, less one.
    private var epochNumbers: [UInt32] = []
    /// The same, counting only epochs that do not continue the one before.
    private var eraNumbers: [UInt32] = []
    /// The entries that an entry comes after.
    private var ancestors: [NumberSet] = []

    /// The entry's number; `nil` if it is not in the graph.
    func number(of id: EntryID) -> Int? { numbers[id] }

    /// Whether the author of the second entry knew the first.
    func comes(_ first: Int, before second: Int) -> Bool { ancestors[second].contains(first) }

    /// Whether neither author knew the other entry.
    func areConcurrent(_ first: Int, _ second: Int) -> Bool {
        first != second && !comes(first, before: second) && !comes(second, before: first)
    }

    /// The number of the epoch that an entry starts; 0 for the genesis.
    func epochNumber(of entry: Int) -> UInt32 { epochNumbers[entry] }

    /// The number of the era in which an entry starts an epoch; 0 for the genesis.
    func eraNumber(of entry: Int) -> UInt32 { eraNumbers[entry] }

    /// The entries that are in a set and before no entry of it, those that know the most first.
    func heads(of set: NumberSet) -> [EntryID] {
        let known = set.reduce(into: NumberSet()) { $0.formUnion(ancestors[$1]) }
        return order.reversed().filter { set.contains($0) && !known.contains($0) }.map { entries[$0].id }
    }

    /// The entries of a set and all that they come after.
    func closure(of set: NumberSet) -> NumberSet {
        set.reduce(into: set) { $0.formUnion(ancestors[$1]) }
    }

    /// Whether all that an entry comes after is in a set.
    func isClosed(_ set: NumberSet, before entry: Int) -> Bool { ancestors[entry].isSubset(of: set) }

    /// The entries of a set that has all that they come after.
    func keeping(_ set: NumberSet) -> GroupGraph {
        var graph = GroupGraph()
        for number in entries.indices where set.contains(number) { graph.add(entries[number]) }
        return graph
    }

    /// All numbers by depth, then time, then id: every entry follows those that it comes after, and the order depends
    /// on nothing but the set of entries.
    var order: [Int] {
        entries.indices.sorted { left, right in
            let (first, second) = (entries[left], entries[right])
            return (depths[left], first.time, first.id) < (depths[right], second.time, second.id)
        }
    }

    /// The entries that come after each one, by number.
    var followers: [NumberSet] {
        var followers = [NumberSet](repeating: NumberSet(), count: entries.count)
        for (number, known) in ancestors.enumerated() {
            for earlier in known.reduce(into: [], { $0.append($1) }) { followers[earlier].insert(number) }
        }
        return followers
    }

    /// Adds an entry whose parents are all in the graph.
    mutating func add(_ entry: GroupEntry) {
        let number = entries.count
        let parents = entry.parents.compactMap { numbers[$0] }
        var known = NumberSet()
        for parent in parents {
            known.formUnion(ancestors[parent])
            known.insert(parent)
        }
        entries.append(entry)
        authors.append(entry.author)
        numbers[entry.id] = number
        depths.append(parents.isEmpty ? 0 : 1 + (parents.map { depths[$0] }.max() ?? 0))
        epochNumbers.append(next(after: known, counts: entry.startsEpoch, \.startsEpoch, epochNumbers))
        eraNumbers.append(next(after: known, counts: entry.startsEra, \.startsEra, eraNumbers))
        ancestors.append(known)
    }

    /// The number of an entry: the greatest of those before it that have one, and one more if it has one itself.
    private func next(
        after known: NumberSet, counts: Bool, _ hasNumber: (GroupEntry) -> Bool, _ numbers: [UInt32]
    ) -> UInt32 {
        let last = known.reduce(into: nil as UInt32?) { greatest, ancestor in
            if hasNumber(entries[ancestor]) { greatest = max(greatest ?? 0, numbers[ancestor]) }
        }
        return last.map { counts ? $0 + 1 : $0 } ?? 0
    }

    /// The entries that an entry with these parents comes after.
    func ancestors(ofEntryAfter parents: [EntryID]) -> NumberSet {
        parents.compactMap { numbers[$0] }.reduce(into: NumberSet()) { known, parent in
            known.formUnion(ancestors[parent])
            known.insert(parent)
        }
    }
}
