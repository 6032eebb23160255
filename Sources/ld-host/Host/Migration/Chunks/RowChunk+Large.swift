internal import FoundationEssentials
internal import HostStores
internal import LocalDataAPI

/// The chunk of a migration that moves one large value. The row's hashes are of the bytes that the stores keep.
extension RowChunk {
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

        /// Where the value goes, and what is kept beside it.
        func target(_ dataVersion: String?) throws(StorageError) -> ResolvedKey {
            let target = try destination.resolved.writing(dataVersion: dataVersion)
            guard target.attributes?.expires == nil, let expires = try destination.expiry(among: [source]) else {
                return target
            }
            return try target.writing(target.attributes(expires: expires))
        }
    }

    private var large: LargeChunk {
        get throws(StorageError) {
            guard let source = removed.first, let destination = written.first else {
                throw StorageError(.corrupt, "the ledger's row of the migration '\(row.id)' is damaged")
            }
            return LargeChunk(source: source, destination: destination)
        }
    }

    /// Writes the row, and then copies a value.
    ///
    /// - Parameters:
    ///   - isKept: Whether to keep a value that someone else writes to the destination meanwhile.
    ///   - former: The changes that make way for the row.
    mutating func publish(
        _ move: Move, dataVersion: String?, keeping isKept: Bool, replacing former: [BatchChange]
    ) throws {
        var change = LedgerRow.Change(move.destination.key, mark: move.destination.mark)
        var source = LedgerRow.Change(move.source.key, mark: nil)
        source.isMoved = true
        let given = try move.source.resolved.readAttributes()
        let value = LargeChunk(source: move.source.resolved, destination: try move.target(dataVersion))
        if move.destination.isStored {
            change.before = try value.copy.storedDigest()
            if ledger.grace > 0 {
                let name = LedgerPlace.imageName()
                let attributes = try value.destination.readAttributes()?.kept
                try value.keep(in: try LedgerPlace.image(name, of: value.destination, attributes))
                (change.image, change.beforeExpires) = (name, attributes?.expires)
            }
        }
        change.afterExpires = value.destination.attributes?.expires
        entry.row.isLarge = true
        entry.row.state = .copying
        entry.row.written = [change]
        entry.row.removed = [source]
        (written, removed) = ([value.destination], [value.source])
        try entry.commit(with: former)
        try value.publish(value.destination.attributes, keeping: isKept && change.before == nil) {
            () throws(StorageError) in
            try move.source.resolved.readAttributes() == given
        }
    }

    /// Compares, removes the source, and records that.
    mutating func finishCopy() throws {
        let value = try large
        try requireSettled(value.source)
        let isDone = try value.clean()
        // Someone has changed one of the two, so that both stay.
        entry.row.removed[0].isLeft = isDone ? nil : true
        entry.row.written[0].after = try value.copy.storedDigest()
        entry.row.state = .clean
        entry.row.expires = ledger.expiry
        try entry.commit()
    }

    /// Whether the value of a row that was interrupted has come to its destination.
    func hasCopy() throws(StorageError) -> Bool {
        let value = try large
        let isThere = try value.source.isStored()
        return try value.copy.storedDigest() != row.written[0].before || !isThere
    }

    /// Puts the value back, and what it replaced.
    ///
    /// - Parameters:
    ///   - next: The row without its images.
    ///   - images: The changes that remove the images.
    mutating func undoCopy(_ next: LedgerRow, dropping images: [BatchChange]) throws {
        let value = try large
        let (change, destination) = (row.written[0], value.destination)
        let image = try change.image.map { (name) throws(StorageError) in
            try LedgerPlace.image(name, of: destination, nil)
        }
        let replaced = image.map { $0.sealedValue($0.layers) }
        if let replaced, replaced.layers.isEmpty {
            let digest = try replaced.storedDigest()
            guard digest == nil || digest == change.before else {
                throw MigrationError.damagedImage(of: destination.address, row.id)
            }
        }
        guard try isUnchanged(value, replaced), change.before == nil || change.image != nil else {
            throw MigrationError(
                .validationFailed,
                "'\(destination.address)' may have changed since the migration '\(row.id)', or its old value is "
                    + "no longer kept; so it is not undone")
        }
        let isGone = try change.isAfterExpired && !destination.isStored()
        guard try isGone || value.putBack() else {
            throw StorageError(
                .corrupt, "'\(value.source.address)' does not read back as it was; nothing was removed")
        }
        var changes = images
        if let image, try !change.isBeforeExpired || image.isStored() {
            try value.restore(from: image) { () throws(StorageError) in try isUnchanged(value, replaced) }
        } else {
            changes.insert(destination.changing(to: nil), at: 0)
        }
        entry.row = next
        try entry.commit(with: changes)
    }

    /// Whether both values are as the migration left them, or as an interrupted undoing did.
    private func isUnchanged(_ value: LargeChunk, _ replaced: SealedValue?) throws(StorageError) -> Bool {
        if row.removed[0].isLeft != true, try value.source.isStored() {
            if let replaced, try replaced.isEqual(to: value.copy) { return true }
            guard try value.copy.isEqual(to: value.source.sealed) else { return false }
        }
        let digest = try value.copy.storedDigest()
        return digest == row.written[0].after || digest == nil && row.written[0].isAfterExpired
    }
}
