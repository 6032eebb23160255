internal import FoundationEssentials
internal import LocalDataAPI

/// The end of a migration that moves one large value as it is: in pieces, never whole in memory. The ledger's row comes
/// first and says that the value may be at its destination; then the value is copied there, and takes its place as a
/// whole; then it is compared, and only then the source is removed. What it replaces is copied to an image before.
struct LargeRun: Sendable {
    /// A source and its destination.
    struct Move: Sendable {
        let source: MigrationTransaction.Entry
        let destination: MigrationTransaction.Entry

        /// `nil` if the migration does anything else.
        init?(_ entries: [MigrationTransaction.Entry]) {
            let copies = entries.filter { if case .copy = $0.change { true } else { false } }
            let removals = entries.filter { if case .removal = $0.change { true } else { false } }
            guard let destination = copies.first, let source = removals.first, copies.count + removals.count == 2,
                copies.count == 1
            else { return nil }
            self.source = source
            self.destination = destination
        }
    }

    let ledger: Ledger
    private var access: StoreAccess { ledger.access }

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// Moves it.
    ///
    /// - Returns: Whether the source is removed.
    func run(
        _ move: Move, _ given: LedgerRow, _ dataVersion: String?, keeping isKept: Bool, _ page: inout LedgerPage
    ) async throws -> Bool {
        var row = given
        row.isLarge = true
        row.state = .copying
        let (source, destination) = (move.source.resolved, move.destination.resolved)
        let values = try await values(source, destination)
        var (written, removed) = (LedgerRow.Change(move.destination), LedgerRow.Change(move.source))
        removed.isMoved = true
        let changes = await ledger.replacing(page[row.id])
        if move.destination.isStored {
            written.before = try await onIOThread { () throws(StorageError) in
                try values.destination.storedDigest()
            }
            if ledger.settings.migrationGrace > 0 { written.image = try await image(of: destination, values) }
        }
        row.written = [written]
        row.removed = [removed]
        page[row.id] = row
        try await ledger.commit(page, with: changes)
        let target = try destination.writing(dataVersion: dataVersion)
        var attributes = target.attributes
        if let expires = try await move.destination.expiry(among: [move.source]), attributes?.expires == nil {
            attributes = target.attributes(expires: expires)
        }
        let replaces = written.before != nil
        try await onIOThread { [attributes] () throws(StorageError) in
            try values.copy(attributes: attributes, keeping: isKept && !replaces)
        }
        return await finishIfPossible(row, values, source, &page)
    }

    /// Resumes an interrupted row.
    ///
    /// - Returns: Whether the source is removed.
    func resume(_ row: LedgerRow, _ page: inout LedgerPage) async throws -> Bool {
        let (source, destination) = try await keys(row)
        return await finishIfPossible(row, try await values(source, destination), source, &page)
    }

    /// Whether the value of a row that was interrupted has come to its destination.
    func hasCome(_ row: LedgerRow) async throws -> Bool {
        let (source, destination) = try await keys(row)
        let values = try await values(source, destination)
        let (isThere, now) = try await onIOThread { () throws(StorageError) in
            (try source.store.exists(source.handle), try values.destination.storedDigest())
        }
        return !isThere || now != row.written[0].before
    }

    /// The same as ``finish(_:_:_:_:)``; what keeps it from being done is logged, and tried again by the next run.
    private func finishIfPossible(
        _ row: LedgerRow, _ values: LargeMove, _ source: ResolvedKey, _ page: inout LedgerPage
    ) async -> Bool {
        do {
            try await finish(row, values, source, &page)
            return true
        } catch {
            let message = StorageError(wrapping: error).message
            access.snapshot.log(
                .warning, "migration",
                "'\(row.id)' has migrated its data, but an old value is still there: \(message)")
            return false
        }
    }

    /// Compares, removes the source, and says so.
    private func finish(
        _ given: LedgerRow, _ values: LargeMove, _ source: ResolvedKey, _ page: inout LedgerPage
    ) async throws {
        var row = given
        try await MigrationCleanup(ledger).requireSettled(source, for: row.id, in: page)
        let open = source.open
        let (isDone, after) = try await onIOThread { () throws(StorageError) in
            (try values.settle(in: open), try values.destination.storedDigest())
        }
        // Someone has changed one of the two, so that both stay.
        row.removed[0].isLeft = isDone ? nil : true
        row.written[0].after = after
        row.state = .clean
        row.expires = ledger.expiry
        page[row.id] = row
        try await ledger.commit(page)
        await ledger.wipe(row.id, in: &page)
    }

    /// Puts the value back, and what it replaced.
    func undo(_ given: LedgerRow, _ page: inout LedgerPage) async throws {
        var row = given
        let (source, destination) = try await keys(row)
        let values = try await values(destination, source)
        let (written, isLeft) = (row.written[0], row.removed[0].isLeft == true)
        var image: ResolvedKey?
        if let name = written.image { image = try LedgerPlace.image(name, of: destination, nil) }
        let replaced: SealedValue? = if let image { try await image.sealedValue() } else { nil }
        if let replaced, replaced.layers.isEmpty {
            let digest = try await onIOThread { () throws(StorageError) in try replaced.storedDigest() }
            guard digest == nil || digest == written.before else {
                throw MigrationError.damagedImage(of: destination.address, row.id)
            }
        }
        let isUnchanged = try await onIOThread { () throws(StorageError) in
            // It may have been put back by a run that was interrupted.
            if !isLeft, try source.store.exists(source.handle) {
                if let replaced, try replaced.isEqual(to: values.source) { return true }
                guard try values.source.isEqual(to: values.destination) else { return false }
            }
            return try values.source.storedDigest() == written.after
        }
        guard isUnchanged, written.before == nil || written.image != nil else {
            throw MigrationError(
                .validationFailed,
                "'\(destination.address)' may have changed since the migration '\(row.id)', or its old value is "
                    + "no longer kept; so it is not undone")
        }
        let attributes = source.attributes
        try await onIOThread { () throws(StorageError) in
            guard try !source.store.exists(source.handle) else { return }
            try values.copy(attributes: attributes, keeping: true)
            guard try values.isInPlace() else {
                throw StorageError(.corrupt, "'\(source.address)' does not read back as it was; nothing was removed")
            }
        }
        var changes: [BatchChange] = []
        if let replaced {
            let isKept = destination.attributes != nil
            try await onIOThread { () throws(StorageError) in
                try replaced.copy(to: values.source, attributes: isKept ? replaced.attributes()?.kept : nil)
            }
        } else {
            changes.append(try await ledger.change(destination, to: nil))
        }
        changes += try await ledger.dropping(&row)
        row.state = .rolledBack
        page[row.id] = row
        try await ledger.commit(page, with: changes)
    }

    private func keys(_ row: LedgerRow) async throws -> (source: ResolvedKey, destination: ResolvedKey) {
        guard let written = row.written.first, let removed = row.removed.first else {
            throw StorageError(.corrupt, "the ledger's row of the migration '\(row.id)' is damaged")
        }
        return (
            try await access.resolveUnlisted(KeyReference(try removed.key)),
            try await access.resolveUnlisted(KeyReference(try written.key))
        )
    }

    private func values(_ source: ResolvedKey, _ destination: ResolvedKey) async throws -> LargeMove {
        LargeMove(
            source: try await source.sealedValue(), destination: try await destination.sealedValue()
        )
    }

    private func image(of key: ResolvedKey, _ values: LargeMove) async throws -> String {
        let name = LedgerPlace.imageName()
        let attributes = try await key.storedAttributes()?.kept
        let place = try LedgerPlace.image(name, of: key, attributes)
        let image = try await place.sealedValue()
        try await onIOThread { () throws(StorageError) in
            try values.destination.copy(to: image, attributes: place.attributes)
        }
        return name
    }
}
