internal import HostStores
internal import LocalDataAPI

/// A chunk of a bulk migration that is one large value; see ``LargeChunk``. The record has the hash of the opened bytes
/// once the value is at its destination. Calls may wait.
extension BulkLedger {
    /// Moves a value.
    func moveLarge(_ source: ResolvedKey, policy: MigrationConflictPolicy, _ entry: inout LedgerEntry) throws {
        let name = source.address.name
        let given = try source.readAttributes()
        let destination = try self.destination.key(
            migration.destinationName(of: name), attributes(of: given, isChanged: false))
        let isReplaced = try destination.isStored()
        switch MigrationVerdict(policy, isThere: isReplaced, isSuperseded: false) {
        case .bring: break
        case .keep, .drop:
            var progress = entry.row.bulk ?? BulkProgress(migration)
            progress.kept += 1
            progress.after = name
            entry.row.bulk = progress
            return
        case .refuse: throw MigrationError.conflict(at: destination.address)
        }
        let value = LargeChunk(source: source, destination: destination)
        var record = BulkRecord()
        record.items = [
            BulkRecord.Item(
                suffix: suffix(of: name), flags: isReplaced ? [.isLarge, .isReplaced] : .isLarge,
                attributes: record.number(of: given), source: 0, destination: 0)
        ]
        let number = entry.row.bulk?.chunks ?? 0
        if isReplaced, grace > 0 {
            let kept = try destination.readAttributes()?.kept
            try value.keep(in: image(.destination, of: destination, number, 0, kept))
        }
        let records = try add(record.encoded(), of: 1, to: &entry.row).changes
        try entry.commit(with: records)
        var isChanged = false
        do throws(StorageError) {
            try value.publish(destination.attributes, keeping: !isReplaced) { () throws(StorageError) in
                try source.readAttributes() == given
            }
        } catch {
            isChanged = try source.readAttributes() != given || !isReplaced && destination.isStored()
            guard error.code == .busy, isChanged else { throw error }
        }
        if try !finishLarge(number, &record, &entry) {
            guard try isChanged || source.readAttributes() != given else {
                throw MigrationError(
                    .validationFailed,
                    "'\(destination.address)' does not read back from '\(destination.open.name)' as it was written, or "
                        + "'\(source.address)' was changed meanwhile; it is as it was")
            }
            entry.pending.append(source.address)
        }
        entry.row.bulk?.after = name
    }

    /// Removes the source of a value that has come to its destination, and records that.
    ///
    /// - Returns: Whether the value had come there.
    @discardableResult
    func finishLarge(_ number: Int, _ record: inout BulkRecord, _ entry: inout LedgerEntry) throws -> Bool {
        guard let item = record.items.first else { return true }
        let value = try large(of: item)
        let isDone = try value.clean()
        entry.row.bulk?.isOpen = false
        let digest = try value.copy.digest()
        var changes: [BatchChange] = []
        let hasCome = isDone && digest != nil
        if hasCome {
            record.items[0].destination = digest ?? 0
        } else if try isUntouched(item, number, value.destination, digest) {
            // The copy was not made; the value is looked at again.
            entry.row.bulk?.moved -= 1
            record.items = []
            if item.flags.contains(.isReplaced) {
                changes.append(try image(.destination, of: value.destination, number, 0).changing(to: nil))
            }
        } else {
            record.items[0].destination = digest ?? 0
            record.items[0].flags.insert(.isLeft)
            entry.row.bulk?.left += 1
        }
        try entry.commit(with: [change(record, number)] + changes)
        return hasCome
    }

    /// Whether the destination is as it was before the copy.
    private func isUntouched(
        _ item: BulkRecord.Item, _ number: Int, _ destination: ResolvedKey, _ digest: UInt64?
    ) throws -> Bool {
        guard let digest else { return true }
        guard item.flags.contains(.isReplaced), grace > 0 else { return false }
        let image = try image(.destination, of: destination, number, 0)
        return try image.sealed.digest() == digest
    }

    private func large(
        of item: BulkRecord.Item, _ attributes: ValueAttributes? = nil
    ) throws(StorageError) -> LargeChunk {
        LargeChunk(source: try self.source(of: item, attributes), destination: try self.destination(of: item))
    }

    /// Throws unless a value is as the migration left it, or as an interrupted undoing did.
    func checkUndoingLarge(_ item: BulkRecord.Item, _ number: Int) throws -> Bool {
        let value = try large(of: item)
        let digest = try value.copy.digest()
        let isThere = try value.source.isStored()
        if isThere, !item.flags.contains(.isLeft) {
            guard try value.source.sealed.digest() == item.destination else { return false }
        }
        return try digest == item.destination || isThere && isUntouched(item, number, value.destination, digest)
    }

    /// Puts a value back, and what it replaced. A source that has a value keeps it, and so does a destination that
    /// someone has changed since.
    func undoLarge(_ item: BulkRecord.Item, _ number: Int, _ record: BulkRecord) throws {
        let value = try large(of: item, record.attributes[item.attributes])
        let isGone = try isGone(item, record)
        guard try isGone || value.copy.digest() == item.destination else { return }
        guard try isGone || value.putBack() else {
            throw MigrationError(
                .validationFailed, "'\(value.source.address)' does not read back as it was; nothing was removed")
        }
        guard item.flags.contains(.isReplaced) else { return }
        try value.restore(from: image(.destination, of: value.destination, number, 0)) { () throws(StorageError) in
            let digest = try value.copy.digest()
            return digest == item.destination || digest == nil && isGone
        }
    }

    /// Whether a destination has what the migration left there, and had nothing before.
    func isLargeToGo(_ item: BulkRecord.Item, _ destination: ResolvedKey) throws -> Bool {
        try !item.flags.contains(.isReplaced) && destination.sealed.digest() == item.destination
    }
}
