internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// Undoes a migration of one key, or makes it final.
extension Ledger {
    /// Restores the values from before the migration, all or none.
    ///
    /// - Throws: `validationFailed` if there is nothing to undo, or a value was changed since; then nothing is done.
    func rollback(_ id: String) async throws {
        var page = try await page()
        if let row = page[id], row.state == .superseded {
            // From now on it brings what is there.
            page[id] = nil
            try await commit(page, with: await replacing(row))
            return
        }
        guard let row = page[id], row.state == .clean else {
            let isUndone = page[id]?.state == .rolledBack
            throw MigrationError(
                .validationFailed,
                isUndone
                    ? "the migration '\(id)' has been rolled back already"
                    : "the migration '\(id)' is not complete, so it is not undone")
        }
        var chunk = try await RowChunk(published: row, in: page, of: self)
        try await chunk.unlock(onlySources: false)
        var next = row
        let images = try await dropping(&next)
        next.state = .rolledBack
        next.unwiped = nil
        try await step(&chunk, with: row.isLarge == true ? nil : chunk.keys) { [next] chunk in
            try row.isLarge == true ? chunk.undoCopy(next, dropping: images) : chunk.undo(next, dropping: images)
        }
    }

    /// Removes the images that were kept to undo a migration.
    func confirm(_ id: String) async throws {
        var page = try await page()
        guard var row = page[id], row.state == .clean else {
            throw MigrationError(.validationFailed, "the migration '\(id)' is not complete")
        }
        let changes = try await dropping(&row)
        guard !changes.isEmpty || row.unwiped != nil else { return }
        page[id] = row
        try await commit(page, with: changes)
        await wipe(id, in: &page)
    }
}

extension RowChunk {
    /// - Parameters:
    ///   - next: The row without its images.
    ///   - images: The changes that remove the images.
    fileprivate mutating func undo(_ next: LedgerRow, dropping images: [BatchChange]) throws {
        var changes: [BatchChange] = []
        var views: [AtomicScope: StoreView] = [:]
        for (change, key) in zip(row.changes, keys) {
            guard try isAsLeft(change, key, key.readStored(&views)) else {
                throw MigrationError(
                    .validationFailed,
                    "'\(key.address)' may have changed since the migration '\(row.id)', so it is not undone; if a later "
                        + "migration has changed it, roll that one back first")
            }
            if change.before == nil { changes.append(key.changing(to: nil)) }
            guard change.before != nil, change.isLeft != true else { continue }
            guard let restored = try restored(change, key) else {
                // Without the migration, it would be there no more.
                if change.isBeforeExpired {
                    changes.append(key.changing(to: nil))
                    continue
                }
                throw MigrationError(
                    .validationFailed,
                    "the value of '\(key.address)' before the migration '\(row.id)' is no longer kept")
            }
            changes.append(restored)
        }
        entry.row = next
        guard try entry.commit(with: changes + images, views: Array(views.values)) else {
            throw MigrationError(
                .validationFailed,
                "a value was changed while the migration '\(row.id)' was being undone; try again")
        }
    }

    /// Whether a value is as the migration left it, or has expired since. A sealed one may have been re-encrypted.
    private func isAsLeft(
        _ change: LedgerRow.Change, _ key: ResolvedKey, _ stored: Data?
    ) throws(StorageError) -> Bool {
        if change.isLeft == true || stored.map({ StableHash.of($0) }) == change.after { return true }
        guard let stored else { return change.isAfterExpired }
        return try ledger.knows(key.opening(stored), at: key, change)
    }

    private func restored(_ change: LedgerRow.Change, _ key: ResolvedKey) throws -> BatchChange? {
        guard let name = change.image else { return nil }
        let image = try LedgerPlace.image(name, of: key, nil)
        // One that is sealed does not open if it is damaged.
        return try key.restoring(from: image, by: row.id, expecting: image.layers.isEmpty ? change.before : nil)
    }
}

extension ResolvedKey {
    /// The change that gives the key the value and the attributes of its image; `nil` if it is kept no longer.
    ///
    /// - Parameters:
    ///   - id: The migration.
    ///   - hash: The hash of the value; `nil` if it is not known.
    /// - Throws: `validationFailed` naming the key and the migration if the image is damaged.
    func restoring(from image: ResolvedKey, by id: String, expecting hash: UInt64?) throws -> BatchChange? {
        guard let data = try image.readImage(of: address, by: id, expecting: hash) else { return nil }
        return try writing(keepsAttributes ? image.readAttributes()?.kept : nil).changing(to: data)
    }

    /// The value that an image keeps of an address; see ``restoring(from:by:expecting:)``.
    func readImage(of address: StorageAddress, by id: String, expecting hash: UInt64?) throws -> Data? {
        guard let stored = try readStored() else { return nil }
        let data = try opening(stored)
        guard hash == nil || hash == StableHash.of(data) else { throw MigrationError.damagedImage(of: address, id) }
        return data
    }

    /// Whether attributes can be kept beside the value.
    var keepsAttributes: Bool { store.abilities.attributes != nil || !layers.isEmpty }
}
