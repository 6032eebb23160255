internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// Undoes a migration, or makes it final.
struct MigrationRollback {
    let ledger: Ledger
    private var access: StoreAccess { ledger.access }

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// Restores the values from before the migration, all or none.
    ///
    /// - Throws: `validationFailed` if there is nothing to undo, or a value was changed since; then nothing is done.
    func run(_ id: String) async throws {
        var page = try await ledger.page()
        if let row = page[id], row.state == .superseded {
            // From now on it brings what is there.
            page[id] = nil
            try await ledger.commit(page, with: await ledger.replacing(row))
            return
        }
        guard var row = page[id], row.state == .clean else {
            throw MigrationError(.validationFailed, "the migration '\(id)' is not complete, so it is not undone")
        }
        if row.isLarge == true { return try await LargeRun(ledger).undo(row, &page) }
        var changes: [BatchChange] = []
        var views: [AtomicScope: StoreView] = [:]
        for change in row.changes {
            let resolved = try await access.resolveUnlisted(KeyReference(try change.key))
            guard
                try await resolved.stored(&views).map({ StableHash.of($0) }) == change.after
                    || change.isLeft == true
            else {
                throw MigrationError(
                    .validationFailed,
                    "'\(resolved.address)' may have changed since the migration '\(id)', so it is not undone"
                )
            }
            if change.before == nil { changes.append(try await ledger.change(resolved, to: nil)) }
            guard change.before != nil, change.isLeft != true else { continue }
            guard let restored = try await restored(change, resolved, id) else {
                throw MigrationError(
                    .validationFailed,
                    "the value of '\(resolved.address)' before the migration '\(id)' is no longer kept")
            }
            changes.append(restored)
        }
        changes += try await ledger.dropping(&row)
        row.state = .rolledBack
        page[id] = row
        guard try await ledger.commit(page, with: changes, views: Array(views.values)) else {
            throw MigrationError(
                .validationFailed, "a value was changed while the migration '\(id)' was being undone; try again")
        }
    }

    /// Removes the images that were kept to undo a migration.
    func confirm(_ id: String) async throws {
        var page = try await ledger.page()
        guard var row = page[id], row.state == .clean else {
            throw MigrationError(.validationFailed, "the migration '\(id)' is not complete")
        }
        let changes = try await ledger.dropping(&row)
        guard !changes.isEmpty || row.unwiped != nil else { return }
        page[id] = row
        try await ledger.commit(page, with: changes)
        await ledger.wipe(id, in: &page)
    }

    private func restored(
        _ change: LedgerRow.Change, _ resolved: ResolvedKey, _ id: String
    ) async throws -> BatchChange? {
        guard let name = change.image else { return nil }
        let image = try LedgerPlace.image(name, of: resolved, nil)
        guard let stored = try await image.stored() else { return nil }
        let value = try await image.sealedValue()
        let attributes = try await onIOThread { () throws(StorageError) in try value.attributes()?.kept }
        let data = try await image.opened(stored)
        // One that is sealed does not open if it is damaged.
        guard !image.layers.isEmpty || StableHash.of(data) == change.before else {
            throw MigrationError.damagedImage(of: resolved.address, id)
        }
        return try await ledger.change(try resolved.writing(resolved.attributes == nil ? nil : attributes), to: data)
    }
}
