internal import LocalDataAPI

/// Removes what a committed migration removes: last, and only what is still as the migration found it.
struct MigrationCleanup {
    let ledger: Ledger
    private var router: StorageRouter { ledger.router }

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// Whether everything that the migration wrote is there.
    func isPublished(_ row: LedgerRow) async throws(StorageError) -> Bool {
        for change in row.written {
            let resolved = try await router.resolveUnlisted(KeyReference(try change.key))
            guard try await router.exists(resolved) else { return false }
        }
        return true
    }

    /// Removes, and says so in the ledger, as one.
    ///
    /// - Throws: What keeps it from being done; then nothing is removed, and it can be tried again.
    func run(_ id: String, in page: inout LedgerPage) async throws(StorageError) {
        for _ in 0..<Self.attempts where try await attempt(id, &page) { return }
        throw StorageError(
            .busy, "what the migration '\(id)' is to remove was changed again and again", hint: "try again")
    }

    private static let attempts = 3

    /// Whether nobody has changed what is to be removed meanwhile.
    private func attempt(_ id: String, _ page: inout LedgerPage) async throws(StorageError) -> Bool {
        guard var row = page[id] else { return true }
        var changes: [BatchChange] = []
        var views: [ObjectIdentifier: StoreView] = [:]
        for index in row.removed.indices {
            let resolved = try await router.resolveUnlisted(KeyReference(try row.removed[index].key))
            guard let stored = try await router.stored(resolved, &views) else { continue }
            guard StableHash.of(stored) == row.removed[index].before else {
                row.removed[index].isLeft = true
                continue
            }
            if let image = try await ledger.image(of: resolved, stored) {
                changes.append(image.change)
                row.removed[index].image = image.name
            }
            changes.append(try await ledger.change(resolved, to: nil))
        }
        row.state = .clean
        row.expires = row.changes.contains { $0.image != nil } ? ledger.expiry : nil
        var next = page
        next[id] = row
        guard try await ledger.commit(next, with: changes, views: Array(views.values)) else { return false }
        page = next
        return true
    }
}
