internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
internal import LocalDataPluginAPI

extension PostgreSQLStore: BatchBackend {
    func apply(_ changes: [StorageChange<PostgreSQLKey>]) throws {
        guard let first = changes.first else { return }
        for change in changes { try check(change.value?.count ?? 0) }
        // In one order for all, so that two batches do not wait for each other.
        let last = Self.lastChanges(changes)
        // All values must be valid while the changes are made.
        let size = last.reduce(0) { $0 + (changes[$1].value?.count ?? 0) }
        let copies = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size), alignment: 1)
        defer { copies.wipe() }
        var (writes, filled) = ([Write](), 0)
        writes.reserveCapacity(last.count)
        for (index, revision) in zip(last, Revision.several(last.count)) {
            let change = changes[index]
            guard let value = change.value else {
                writes.append(Write(change.key, .remove, revision: revision))
                continue
            }
            let copy = UnsafeMutableRawBufferPointer(rebasing: copies[filled..<filled + value.count])
            value.withUnsafeBytes { copy.copyMemory(from: $0) }
            filled += value.count
            let action = Write.Action.set(UnsafeRawBufferPointer(copy), change.attributes)
            writes.append(Write(change.key, action, revision: revision))
        }
        _ = try change(writes, "writing \(changes.count) values in '\(first.key.place)'")
    }

    /// The indices of each value's last change, sorted by key.
    private static func lastChanges(_ changes: [StorageChange<PostgreSQLKey>]) -> [Int] {
        let isSorted = changes.indices.dropFirst().allSatisfy { changes[$0 - 1].key.sorts(before: changes[$0].key) }
        if isSorted { return Array(changes.indices) }
        // The sort is stable, so that the last change of a key is the last of its run.
        let sorted = changes.indices.sorted { changes[$0].key.sorts(before: changes[$1].key) }
        return sorted.indices.filter { place in
            place + 1 == sorted.count || changes[sorted[place]].key != changes[sorted[place + 1]].key
        }.map { sorted[$0] }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Frees memory that may hold a part of a secret.
    func wipe() {
        if let start = baseAddress { explicit_bzero(start, count) }
        deallocate()
    }
}

extension PostgreSQLKey {
    /// An order in which all processes change values.
    func sorts(before other: PostgreSQLKey) -> Bool {
        if place == other.place { return order(other.name) < 0 }
        if place.domain != other.place.domain { return place.domain < other.place.domain }
        return place.scope.utf8.lexicographicallyPrecedes(other.place.scope.utf8)
    }
}

extension PostgreSQLStore: BulkBackend {
    func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
    ) throws {
        var range = NameRange(prefix: prefix, after: after)
        var limit = Self.smallestPage
        try pool.readMoment("reading the values of '\(place)'") { link in
            guard let number = try pool.schema.number(of: place, adding: false, link, until: pool.deadline()) else {
                return
            }
            while true {
                let parameters = [.short(number)] + range.parameters
                let call = StatementCall(.values, parameters + [.integer(Int64(limit)), .integer(Int64(largest))])
                guard let page = try link.exchange([call], until: pool.deadline()).first else { return }
                var bytes = 0
                for row in 0..<page.count {
                    bytes += page.bytes(3, row: row).count
                    guard Self.pass(page, row, body) else { return }
                }
                guard page.count == limit else { return }
                range.move(after: page.bytes(0, row: page.count - 1))
                limit = bytes < ValuePieces.threshold ? min(2 * limit, 1024) : max(limit / 2, Self.smallestPage)
            }
        }
    }

    private static let smallestPage = 16

    private static func pass(_ page: ResultRows, _ row: Int, _ body: Taker) -> Bool {
        let attributes = ValueAttributes(page, row: row, from: 4)
        let (name, mark) = (page.bytes(0, row: row).bytes, UInt64(bitPattern: page.integer(1, row: row)))
        defer { page.clear(3, row: row) }
        let content = page.bytes(3, row: row)
        let checksum = Checksum(of: content)
        // A corrupt value must not block the others; reading it by itself reports the damage.
        guard !page.isNull(3, row: row), Int64(checksum.value) == page.integer(2, row: row),
            UInt64(content.count) == attributes.size
        else { return body(name, nil, attributes, mark) }
        return body(name, content.bytes, attributes, mark)
    }

    func apply(_ changes: BulkChanges) throws -> [Int] {
        var writes: [Write] = []
        writes.reserveCapacity(changes.count)
        let revisions = Revision.several(changes.count)
        try changes.forEach { index, change, name, value in
            try check(value?.byteCount ?? 0)
            // The bytes stay valid until this call returns.
            let action: Write.Action =
                if let value { .set(value.withUnsafeBytes { $0 }, change.attributes) } else { .remove }
            let place = changes.places[change.place]
            writes.append(
                Write(
                    place: place, name: name.withUnsafeBytes { $0 }, action, if: Write.Condition(change.condition),
                    revision: revisions[index]))
        }
        guard let place = changes.places.first else { return [] }
        return try change(writes, "writing \(writes.count) values in '\(place)'").failed
    }
}
