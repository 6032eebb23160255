internal import ByteCoding
internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import HostSealing
internal import HostStores
internal import LocalDataAPI

/// A chunk of a bulk migration whose values are moved and stored as they are, between stores that read and change many
/// values in one call. The order is that of ``BulkChunk``, which moves what this one does not: values whose destination
/// has one, and large ones.
struct PlainChunk {
    enum Outcome {
        /// So many values were moved; the name of the last.
        case moved(Int, last: String)
        /// There are no more.
        case nothingLeft
        /// The next values, as many as this, must be examined one by one.
        case unfit(Int)
    }

    /// How many values of others are read to get to those that were written.
    private static let mostOthers = 4096

    private let ledger: BulkLedger
    private let values = BulkValues()
    private var migration: AnyBulkMigration { ledger.migration }

    /// `nil` if the migration's values are not of this kind.
    init?(_ ledger: BulkLedger) {
        guard !ledger.migration.changesValues,
            [ledger.source, ledger.destination].allSatisfy({ $0.isPlain && $0.open.store.abilities.bulk != nil }),
            ledger.destination.scope == AtomicScope(LedgerPlace.namespace, in: ledger.destination.open)
        else { return nil }
        self.ledger = ledger
    }

    /// Moves the values whose names come after one.
    ///
    /// - Parameter entry: The ledger's row; the values count there, and it is committed if any came to the destination.
    func move(after: String?, _ entry: inout LedgerEntry) throws -> Outcome {
        try values.read(
            ledger.source, after: after, renaming: migration.destination.prefix, most: ledger.chunkSize,
            mostBytes: MoveLimits.bytes,
            largest: Int(MoveLimits.whole))
        guard values.count > 0 else { return values.endsBeforeLarge ? .unfit(1) : .nothingLeft }
        for index in 0..<values.count where EnvelopeHeader.begins(values.value(index)) {
            throw StorageError.sealedOtherwise(
                ledger.source.address(String(decoding: values.name(index), as: UTF8.self)))
        }
        try entry.page[migration.id]?.requireSamePack(as: migration)
        let last = String(decoding: values.name(values.count - 1), as: UTF8.self)
        let record = try record()
        var row = entry.row
        let (number, records) = try ledger.add(record, of: values.count, to: &row)
        row.bulk?.after = last
        // Where a destination has a value, the policy says what becomes of it.
        let isWritten = try entry.commit(row) { (page) throws(StorageError) in try write(records + [page]) }
        guard isWritten else { return .unfit(values.count) }
        if let address = try firstUnlike(after: after) {
            throw try entry.unverified(chunkOf: address, ledger.destination.open)
        }
        if try remove() {
            entry.row.bulk?.isOpen = false
        } else {
            var record = try BulkRecord(record, of: migration.id)
            try ledger.clean(number, &record, &entry)
        }
        return .moved(values.count, last: last)
    }

    private func record() throws(StorageError) -> Data {
        var record = try BulkRecord.Writer(values.attributes, capacity: values.count * 64)
        let prefix = migration.source.prefix.utf8.count
        for index in 0..<values.count {
            var hash = StableHash.start
            StableHash.add(values.value(index), to: &hash)
            record.add(
                UnsafeRawBufferPointer(rebasing: values.name(index)[prefix...]), [],
                attributes: values.attributes(index),
                source: hash, destination: hash)
        }
        return record.encoded
    }

    /// Writes the values where none is, and what the ledger says.
    ///
    /// - Returns: Whether there was none; if not, nothing has changed.
    private func write(_ records: [BatchChange]) throws(StorageError) -> Bool {
        let changes = BulkChangeList(capacity: values.count + records.count)
        let place = changes.add(ledger.destination.namespace)
        let kept = values.attributes.map { changes.add(ledger.attributes(of: $0, isChanged: false)) }
        for index in 0..<values.count {
            changes.add(
                place, values.newName(index), values.value(index), attributes: kept[values.attributes(index)],
                expected: 0)
        }
        // The ledger's own are as plain as the destination's values.
        let ledgerPlace = changes.add(LedgerPlace.namespace)
        for change in records {
            changes.add(
                ledgerPlace, changes.keep(change.resolved.address.name.utf8), change.data.map { changes.keep($0) },
                attributes: change.resolved.attributes.map { changes.add($0) })
        }
        return try ledger.destination.open.store.apply(changes).isEmpty
    }

    /// Reads back what was written.
    ///
    /// - Returns: The first of the values that is not as it was written.
    private func firstUnlike(after: String?) throws -> StorageAddress? {
        let destination = ledger.destination
        var (next, others) = (0, 0)
        try destination.open.repeating { () throws(StorageError) in
            (next, others) = (0, 0)
            try destination.open.store.forEachValue(
                in: destination.namespace, prefix: destination.range.prefix,
                after: after.map { migration.destinationName(of: $0) }, largest: Int(MoveLimits.whole)
            ) { given in
                let order = Self.compare(given.name, values.newName(next))
                guard order >= 0 else {
                    others += 1
                    return others <= Self.mostOthers
                }
                guard order == 0, let value = given.value, Self.compare(value, values.value(next)) == 0 else {
                    return false
                }
                next += 1
                return next < values.count
            }
        }
        guard next < values.count else { return nil }
        // There are many others between them, or one is not as it should be.
        let view = try StoreView(destination.scope)
        for index in next..<values.count {
            let key = try destination.key(String(decoding: values.newName(index), as: UTF8.self))
            let stored = try view.read(key)
            guard let stored, stored.withUnsafeBytes({ Self.compare($0, values.value(index)) == 0 }) else {
                return key.address
            }
        }
        return nil
    }

    /// Removes the sources.
    ///
    /// - Returns: Whether all were as they were read; if not, nothing has changed.
    private func remove() throws(StorageError) -> Bool {
        let changes = BulkChangeList(capacity: values.count)
        let place = changes.add(ledger.source.namespace)
        for index in 0..<values.count { changes.add(place, values.name(index), nil, expected: values.mark(index)) }
        return try ledger.source.open.store.apply(changes).isEmpty
    }

    /// By bytes, as names are ordered.
    private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        if count > 0, let first = left.baseAddress, let second = right.baseAddress {
            let order = memcmp(first, second, count)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}
