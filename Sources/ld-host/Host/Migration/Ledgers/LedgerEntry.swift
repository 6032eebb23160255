internal import ByteCoding
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// A migration's row while work on it is under way, with the page that it is a part of.
struct LedgerEntry: Sendable {
    let ledger: Ledger
    private(set) var page: LedgerPage
    var row: LedgerRow
    /// The sources of a range that stay because others kept changing them or their destinations.
    var pending: [StorageAddress] = []

    /// Makes changes and writes the row as it is, all or none; see ``Ledger/apply(_:views:)``.
    @discardableResult
    mutating func commit(
        with changes: [BatchChange] = [], views: [StoreView] = []
    ) throws(StorageError) -> Bool {
        try commit(row) { [ledger] (page) throws(StorageError) in try ledger.apply(changes + [page], views: views) }
    }

    /// Writes another row by a call that takes the change of the page, and returns whether it made it.
    mutating func commit(
        _ next: LedgerRow, _ apply: (BatchChange) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        var changed = page
        changed[next.id] = next
        guard try apply(ledger.change(changed)) else { return false }
        (row, page) = (next, changed)
        return true
    }

    /// Wipes locations that values were moved from to a better protected one, and records in the row which of them may
    /// still have the values.
    ///
    /// - Parameter kept: The locations that are not wiped because a rollback needs their values.
    mutating func wipe(
        _ locations: [(store: LoadedStore, place: StorageNamespace, name: String)], besides kept: [String] = []
    ) throws(StorageError) {
        var unwiped = kept
        for (store, place, name) in locations {
            do throws(StorageError) { try store.wipe(place) } catch {
                unwiped.append(name)
                ledger.snapshot.log(
                    .warning, "migration",
                    "values that '\(row.id)' has moved from '\(name)' are still in its files; the next run tries again "
                        + "to remove them: \(error.message)")
            }
        }
        let remaining = unwiped.isEmpty ? nil : unwiped
        guard row.unwiped != remaining else { return }
        row.unwiped = remaining
        try commit()
    }
}
