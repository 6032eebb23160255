internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// The ledger of a bulk migration's destination, with what a range needs more: its two locations, and a numbered record
/// and images for each chunk. Calls may wait.
package struct BulkLedger: Sendable {
    let migration: AnyBulkMigration
    let source: BulkPlace
    let destination: BulkPlace
    let ledger: Ledger
    /// The most values of a chunk.
    let chunkSize: Int
    private let mark: String

    init(
        _ migration: AnyBulkMigration, from source: BulkPlace, to destination: BulkPlace, _ snapshot: RouterSnapshot,
        chunkSize: Int? = nil
    ) throws(StorageError) {
        try snapshot.requireLasting(
            destination.open, for: source.address("\(source.range.prefix)*"), in: source.open)
        self.migration = migration
        self.source = source
        self.destination = destination
        let isSealed = !source.isPlain || !destination.isPlain
        self.chunkSize = chunkSize ?? MoveLimits.values(source.open, destination.open, isSealed: isSealed)
        // What all of the range's names stand for.
        let address = "\(destination.address("\(destination.range.prefix)*"))"
        ledger = try Ledger(StoreAccess(snapshot: snapshot), of: address, in: destination.open)
        mark = Self.mark(of: migration.id, to: address)
    }

    /// The common part of the names of a migration's records and images.
    package static func mark(of id: String, to address: String) -> String { StableHash.text([id, address]) }

    var snapshot: RouterSnapshot { ledger.snapshot }

    /// For how long records and images are kept, in days.
    var grace: Int { ledger.grace }

    func page() throws(StorageError) -> LedgerPage { try ledger.page() }

    /// See ``Ledger/apply(_:views:)``.
    func apply(_ changes: [BatchChange], views: [StoreView] = []) throws(StorageError) -> Bool {
        try ledger.apply(changes, views: views)
    }

    /// Where a chunk's record is kept: sealed as the destination's values are.
    func recordPlace(_ number: Int) throws(StorageError) -> ResolvedKey {
        try LedgerPlace.image("chunk \(mark) \(number)", of: destination.key("*"), nil)
    }

    /// A chunk's record; `nil` if it is kept no longer.
    func record(_ number: Int) throws(StorageError) -> BulkRecord? {
        let place = try recordPlace(number)
        guard let stored = try place.readStored() else { return nil }
        return try BulkRecord(place.opening(stored), of: migration.id)
    }

    /// The change that writes a chunk's record.
    func change(_ record: BulkRecord, _ number: Int) throws(StorageError) -> BatchChange {
        try recordPlace(number).changing(to: record.encoded())
    }

    /// The part of a source's name behind the prefix, as records have it.
    func suffix(of name: String) -> String {
        String(decoding: name.utf8.dropFirst(migration.source.prefix.utf8.count), as: UTF8.self)
    }

    func source(of item: BulkRecord.Item, _ attributes: ValueAttributes? = nil) throws(StorageError) -> ResolvedKey {
        try source.key(migration.source.prefix + item.suffix, attributes)
    }

    func destination(of item: BulkRecord.Item) throws(StorageError) -> ResolvedKey {
        try destination.key(migration.destination.prefix + item.suffix)
    }

    enum Side: String {
        case source, destination
    }

    /// Where the image of a chunk's source is kept, or of what the chunk has replaced at a destination: in the value's
    /// own store, and sealed as the value is.
    func image(
        _ side: Side, of key: ResolvedKey, _ number: Int, _ index: Int, _ attributes: ValueAttributes? = nil
    ) throws(StorageError) -> ResolvedKey {
        try LedgerPlace.image("image \(mark) \(number).\(index) \(side.rawValue)", of: key, attributes)
    }

    /// The images that a value of a chunk may have: of its source, and of what it has replaced.
    func images(
        of item: BulkRecord.Item, _ number: Int, _ index: Int
    ) throws(StorageError) -> (source: ResolvedKey?, destination: ResolvedKey?) {
        let (isChanged, isReplaced) = (item.flags.contains(.isChanged), item.flags.contains(.isReplaced))
        return (
            isChanged ? try image(.source, of: source(of: item), number, index) : nil,
            isReplaced ? try image(.destination, of: destination(of: item), number, index) : nil
        )
    }

    /// What is kept beside a value at its destination: all that was, if the value is as it was.
    func attributes(of given: ValueAttributes?, isChanged: Bool) -> ValueAttributes {
        var attributes = given?.kept ?? ValueAttributes()
        let format = migration.destination.serializer
        if isChanged || attributes.serializer == nil {
            attributes.serializer = format.rawValue
            attributes.contentType = format.contentType
        }
        if isChanged {
            attributes.versionTag = nil
            attributes.appVersion = snapshot.settings.appVersion
        }
        return attributes
    }

    /// Counts the next chunk in the row, and returns the chunk's number and the changes of records.
    ///
    /// - Parameter count: How many values come to the destination.
    func add(
        _ record: Data, of count: Int, to row: inout LedgerRow
    ) throws(StorageError) -> (number: Int, changes: [BatchChange]) {
        var progress = row.bulk ?? BulkProgress(migration)
        let number = progress.chunks
        progress.chunks += 1
        progress.isOpen = true
        progress.moved += count
        var changes = [try recordPlace(number).changing(to: record)]
        if grace == 0 {
            for old in progress.firstRecord..<number { changes.append(try recordPlace(old).changing(to: nil)) }
            progress.firstRecord = number
        }
        row.bulk = progress
        row.state = .published
        return (number, changes)
    }
}

extension LedgerEntry {
    /// Records that a value of a chunk does not read back, and returns the error.
    mutating func unverified(chunkOf address: StorageAddress, _ open: OpenStore) throws(StorageError) -> MigrationError
    {
        try unverified(
            address, open,
            ": another process changed it there meanwhile, or the store does not keep such values; the sources of this "
                + "part of the values are as they were")
    }

    /// Wipes the source's location of values that were moved to a better protected one.
    mutating func wipe(_ range: BulkLedger) throws(StorageError) {
        guard range.source.isPlain, !range.destination.isPlain, !range.source.open.isGoneWithProcess else { return }
        try wipe([(range.source.open.store, range.source.namespace, "\(range.source.range)")])
    }
}
