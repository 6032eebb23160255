internal import FoundationEssentials
internal import LocalDataAPI

/// A chunk of a bulk migration that is one large value, moved as it is and in pieces. The record comes first and says
/// that the value may be at its destination; whether it is, shows there.
struct BulkLarge {
    let ledger: BulkLedger
    private var migration: AnyBulkMigration { ledger.migration }

    init(_ ledger: BulkLedger) { self.ledger = ledger }

    /// Moves a value.
    ///
    /// - Parameters:
    ///   - attributes: What is kept beside it at its destination.
    ///   - pending: As ``BulkChunk/move(_:_:_:pending:)``.
    func move(
        _ name: String, given: ValueAttributes?, attributes: ValueAttributes, policy: MigrationConflictPolicy,
        _ row: inout LedgerRow, _ page: inout LedgerPage, pending: inout [StorageAddress]
    ) throws {
        let source = try ledger.source.key(name)
        let destination = try ledger.destination.key(migration.destinationName(of: name), attributes)
        let isReplaced = try destination.open.repeating { () throws(StorageError) in
            try destination.store.exists(destination.handle)
        }
        var progress = row.bulk ?? BulkProgress(migration)
        switch MigrationVerdict(policy, isThere: isReplaced, isSuperseded: false) {
        case .bring: break
        case .keep, .drop:
            progress.kept += 1
            progress.after = name
            row.bulk = progress
            return
        case .refuse: throw MigrationError.conflict(at: destination.address)
        }
        let number = progress.chunks
        if isReplaced, ledger.grace > 0 {
            let value = destination.sealedValue(destination.layers)
            let kept = try value.attributes()?.kept
            let image = try ledger.image(ofDestination: destination, number, 0, kept)
            try value.copy(to: image.sealedValue(image.layers), attributes: image.attributes)
        }
        var record = BulkRecord()
        record.items = [
            BulkRecord.Item(
                suffix: String(decoding: name.utf8.dropFirst(migration.source.prefix.utf8.count), as: UTF8.self),
                flags: isReplaced ? [.isLarge, .isReplaced] : .isLarge, attributes: record.number(of: given), source: 0,
                destination: 0)
        ]
        progress.chunks += 1
        progress.isOpen = true
        progress.moved += 1
        row.bulk = progress
        row.state = .published
        try commit(number, record, row, &page)
        var isChanged = false
        do throws(StorageError) {
            try move(source, destination).copy(attributes: destination.attributes, keeping: !isReplaced)
        } catch {
            isChanged = try !isReplaced && destination.store.exists(destination.handle)
            guard error.code == .busy, isChanged else { throw error }
        }
        guard try finish(number, &record, &row, &page) else {
            if try isChanged || source.sealedValue(source.layers).attributes() != given {
                pending.append(source.address)
                row.bulk?.after = name
                return
            }
            throw MigrationError(
                .validationFailed,
                "'\(destination.address)' does not read back from '\(destination.open.name)' as it was written, or "
                    + "'\(source.address)' was changed meanwhile; it is as it was")
        }
        row.bulk?.after = name
    }

    /// Removes the source of a value that has come to its destination, and says so.
    ///
    /// - Returns: Whether the value had come there.
    @discardableResult
    func finish(
        _ number: Int, _ record: inout BulkRecord, _ row: inout LedgerRow, _ page: inout LedgerPage
    ) throws -> Bool {
        guard var item = record.items.first else { return true }
        let source = try ledger.source.key(migration.source.prefix + item.suffix)
        let destination = try ledger.destination.key(migration.destination.prefix + item.suffix)
        let move = move(source, destination)
        let isDone = try move.settle(in: source.open)
        row.bulk?.isOpen = false
        let digest = try move.destination.digest()
        if isDone, let digest {
            item = item.with(item.flags, destination: digest)
        } else if try isUntouched(item, number, destination, digest) {
            // The copy was not made; the value is looked at again.
            row.bulk?.moved -= 1
            record.items = []
            try commit(number, record, row, &page, removing: item, destination)
            return false
        } else {
            item = item.with(item.flags.union(.isLeft), destination: digest ?? 0)
            row.bulk?.left += 1
        }
        record.items = [item]
        try commit(number, record, row, &page)
        return isDone
    }

    /// Whether the destination is as it was before the copy.
    private func isUntouched(
        _ item: BulkRecord.Item, _ number: Int, _ destination: ResolvedKey, _ digest: UInt64?
    ) throws -> Bool {
        guard let digest else { return true }
        guard item.flags.contains(.isReplaced), ledger.grace > 0 else { return false }
        let image = try ledger.image(ofDestination: destination, number, 0)
        return try image.sealedValue(image.layers).digest() == digest
    }

    private func move(_ source: ResolvedKey, _ destination: ResolvedKey) -> LargeMove {
        LargeMove(
            source: source.sealedValue(source.layers), destination: destination.sealedValue(destination.layers))
    }

    private func commit(
        _ number: Int, _ record: BulkRecord, _ row: LedgerRow, _ page: inout LedgerPage,
        removing item: BulkRecord.Item? = nil, _ destination: ResolvedKey? = nil
    ) throws {
        page[row.id] = row
        var changes = [try ledger.recordPlace(number).changing(to: record.encoded()), try ledger.change(page)]
        if let item, let destination, item.flags.contains(.isReplaced) {
            changes.append(try ledger.image(ofDestination: destination, number, 0).changing(to: nil))
        }
        _ = try ledger.apply(changes)
    }
}

extension BulkLarge {
    /// Throws unless a value is as the migration left it, or as an interrupted undoing did.
    func checkUndoing(_ item: BulkRecord.Item, _ number: Int) throws -> Bool {
        let source = try ledger.source.key(migration.source.prefix + item.suffix)
        let destination = try ledger.destination.key(migration.destination.prefix + item.suffix)
        let digest = try destination.sealedValue(destination.layers).digest()
        let isThere = try source.store.exists(source.handle)
        if isThere, !item.flags.contains(.isLeft) {
            guard try source.sealedValue(source.layers).digest() == item.destination else { return false }
        }
        return try digest == item.destination || isThere && isUntouched(item, number, destination, digest)
    }

    /// Puts a value back, and what it replaced.
    func undo(_ item: BulkRecord.Item, _ number: Int, _ attributes: ValueAttributes?) throws {
        let source = try ledger.source.key(migration.source.prefix + item.suffix, attributes)
        let destination = try ledger.destination.key(migration.destination.prefix + item.suffix)
        let back = move(destination, source)
        if try !source.store.exists(source.handle) {
            try back.copy(attributes: source.attributes, keeping: true)
            guard try back.isInPlace() else {
                throw MigrationError(
                    .validationFailed, "'\(source.address)' does not read back as it was; nothing was removed")
            }
        }
        guard item.flags.contains(.isReplaced) else { return }
        let image = try ledger.image(ofDestination: destination, number, 0)
        let former = image.sealedValue(image.layers)
        let key = try ledger.destination.key(destination.address.name, former.attributes()?.kept)
        try former.copy(to: key.sealedValue(key.layers), attributes: key.attributes)
    }
}

extension BulkRecord.Item {
    fileprivate func with(_ flags: BulkRecord.Flags, destination: UInt64) -> BulkRecord.Item {
        BulkRecord.Item(
            suffix: suffix, flags: flags, attributes: attributes, source: source, destination: destination)
    }
}
