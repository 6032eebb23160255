internal import FoundationEssentials
import Glibc
internal import LocalDataPluginAPI

/// Consecutive removals of values with marks, in the order of their names: if the table contains nothing between them,
/// one statement makes them.
struct Removals {
    private struct Entry {
        let index: Int
        let name: Range<Int>
        let mark: Int64
    }

    private var entries: [Entry] = []
    private var names: [UInt8] = []
    private var place = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Adds a change if it can follow the others; `false` if not.
    mutating func add(_ index: Int, _ change: BulkChanges.Change, _ name: RawSpan, isRemoval: Bool) -> Bool {
        guard isRemoval, case .revision(let mark) = change.condition else { return false }
        return name.withUnsafeBytes { name in
            if let last = entries.last {
                guard change.place == place, isAscending(last, name) else { return false }
            }
            place = change.place
            entries.append(
                Entry(index: index, name: names.count..<(names.count + name.count), mark: Int64(bitPattern: mark)))
            names.append(contentsOf: name)
            return true
        }
    }

    private func isAscending(_ last: Entry, _ name: UnsafeRawBufferPointer) -> Bool {
        names.withUnsafeBytes { names in
            guard let first = names.baseAddress, let second = name.baseAddress else { return false }
            let order = memcmp(first + last.name.lowerBound, second, min(last.name.count, name.count))
            return order == 0 ? last.name.count < name.count : order < 0
        }
    }

    /// Removes the added values, and forgets them.
    ///
    /// - Returns: The indices of those that have another mark or do not exist.
    mutating func make(in places: [DatabasePlace], _ change: ChangeTransaction) throws -> [Int] {
        guard !entries.isEmpty else { return [] }
        defer {
            entries.removeAll(keepingCapacity: true)
            names.removeAll(keepingCapacity: true)
        }
        let place = places[self.place]
        return try names.withUnsafeBytes { names in
            func name(_ entry: Entry) -> LentName {
                LentName(place: place, name: UnsafeRawBufferPointer(rebasing: names[entry.name]))
            }
            if let first = entries.first, let last = entries.last, entries.count > 1 {
                var next = 0
                let isAll = try change.removeRange(name(first), name(last)) { found, mark in
                    guard next < entries.count, entries[next].mark == mark else { return false }
                    let expected = name(entries[next]).name
                    guard found.count == expected.count, let first = found.baseAddress,
                        let second = expected.baseAddress, memcmp(first, second, expected.count) == 0
                    else { return false }
                    next += 1
                    return true
                } isWhole: {
                    next == entries.count
                }
                if isAll { return [] }
            }
            return try entries.filter { try !change.remove(name($0), of: $0.mark) }.map(\.index)
        }
    }
}
