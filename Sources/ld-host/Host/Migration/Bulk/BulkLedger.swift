internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// Where the ledger keeps what a bulk migration has done: a row in the page of its destination, a record for each
/// chunk, and images. Only the holder of the turn in the destination's store uses it. Calls may wait.
struct BulkLedger: Sendable {
    let migration: AnyBulkMigration
    let source: BulkPlace
    let destination: BulkPlace
    let snapshot: RouterSnapshot
    /// The most values of a chunk: as many as take some tenths of a second, since others may wait for their turn; fewer
    /// of sealed ones, which take more memory.
    let chunkSize: Int
    private let address: StorageAddress
    private let mark: String

    init(
        _ migration: AnyBulkMigration, from source: BulkPlace, to destination: BulkPlace, _ snapshot: RouterSnapshot,
        chunkSize: Int? = nil
    ) {
        self.migration = migration
        self.source = source
        self.destination = destination
        self.snapshot = snapshot
        let isQuick = [source, destination].allSatisfy { [.memory, .disk].contains($0.open.store.properties.latency) }
        let isPlain = source.isPlain && destination.isPlain
        self.chunkSize = chunkSize ?? (isQuick && isPlain ? 4096 : 256)
        // What all of the range's names stand for.
        address = destination.address("\(destination.range.prefix)*")
        mark = Self.mark(of: migration.id, to: "\(address)")
    }

    /// The common part of the names of a migration's records and images.
    static func mark(of id: String, to address: String) -> String { StableHash.text([id, address]) }

    /// For how long records and images are kept, in days.
    var grace: Int { snapshot.settings.migrationGrace }

    /// The page of the destination's ledger.
    func page() throws(StorageError) -> LedgerPage {
        let place = try place()
        guard let stored = try place.readStored() else { return LedgerPage(of: "\(address)") }
        return try LedgerPage(place.opening(stored), of: "\(address)")
    }

    /// The change that says a page.
    func change(_ page: LedgerPage) throws(StorageError) -> BatchChange {
        try place().changing(to: try page.encoded())
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

    /// Where the image of a chunk's source is kept: in the source's own store, and sealed as the source is.
    func image(
        ofSource key: ResolvedKey, _ number: Int, _ index: Int, _ attributes: ValueAttributes? = nil
    ) throws(StorageError) -> ResolvedKey {
        try LedgerPlace.image("image \(mark) \(number).\(index) source", of: key, attributes)
    }

    /// The same of what a chunk has replaced.
    func image(
        ofDestination key: ResolvedKey, _ number: Int, _ index: Int, _ attributes: ValueAttributes? = nil
    ) throws(StorageError) -> ResolvedKey {
        try LedgerPlace.image("image \(mark) \(number).\(index) destination", of: key, attributes)
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

    /// What the ledger says once the next chunk's values are at their destination; takes effect along with them.
    ///
    /// - Parameter count: How many values it is.
    /// - Parameter progress: All but what the chunk adds.
    func commit(
        _ record: Data, of count: Int, _ progress: BulkProgress, _ row: LedgerRow, _ page: LedgerPage
    ) throws(StorageError) -> BulkCommit {
        var (progress, row, page) = (progress, row, page)
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
        page[migration.id] = row
        changes.append(try change(page))
        return BulkCommit(number: number, changes: changes, row: row, page: page)
    }

    /// Says that a chunk's value does not read back, and gives the error.
    func unverified(
        _ address: StorageAddress, _ row: inout LedgerRow, _ page: inout LedgerPage
    ) throws(StorageError) -> MigrationError {
        row.state = .unverified
        page[migration.id] = row
        _ = try apply([change(page)])
        return MigrationError(
            .validationFailed,
            "'\(address)' does not read back from '\(destination.open.name)' as it was written: another process changed it "
                + "there meanwhile, or the store does not keep such values; the sources of this part of the values are as "
                + "they were")
    }

    /// Makes changes, all or none.
    ///
    /// - Returns: Whether what the views saw was still so; if not, nothing has changed.
    func apply(_ changes: [BatchChange], views: [StoreView] = []) throws(StorageError) -> Bool {
        try BatchRun(snapshot: snapshot, changes: changes, views: views, progress: {}).run()
    }

    private func place() throws(StorageError) -> ResolvedKey {
        try LedgerPlace.page(
            named: LedgerPlace.pageName(of: "\(address)"), in: destination.open, snapshot.settings)
    }
}

/// The ledger's state of a chunk whose values are at their destination.
struct BulkCommit {
    /// The chunk's number.
    let number: Int
    let changes: [BatchChange]
    let row: LedgerRow
    let page: LedgerPage
}
