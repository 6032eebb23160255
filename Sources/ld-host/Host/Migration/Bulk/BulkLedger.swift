internal import FoundationEssentials
internal import LocalDataAPI

/// Where the ledger keeps what a bulk migration has done: a row in the page of its destination, a record for each chunk, and
/// images. To be used by whoever is in turn in the destination's store. Calls may wait.
struct BulkLedger: Sendable {
    let migration: AnyBulkMigration
    let source: BulkPlace
    let destination: BulkPlace
    let snapshot: RouterSnapshot
    /// The most values of a chunk: as many as take some tenths of a second, since others may wait for their turn.
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
        self.chunkSize = chunkSize ?? (isQuick ? 4096 : 256)
        // What all of the range's names stand for.
        address = destination.address("\(destination.range.prefix)*")
        mark = StableHash.text([migration.id, "\(address)"])
    }

    /// For how long records and images are kept, in days.
    var grace: Int { snapshot.settings.migrationGrace }

    /// What is said of the destination.
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
