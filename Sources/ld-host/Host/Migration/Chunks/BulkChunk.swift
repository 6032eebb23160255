internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// One chunk of a bulk migration, while the destination's store is locked. The order makes it safe to be stopped at any
/// point: what comes to the destination, the images of what that replaces, the record and the ledger's row are put in
/// place as one; what was written is read back; only then the sources are removed that nobody has changed.
struct BulkChunk {
    /// A value on its way.
    private struct Move {
        let source: ResolvedKey
        /// The change that keeps the source's value, if the destination does not have it.
        let image: BatchChange?
        /// `nil` for a value that is removed and goes nowhere.
        let write: ChunkWrite?
    }

    /// The values of a chunk, and what the ledger says of them.
    private struct Content {
        var moves: [Move] = []
        var record = BulkRecord()
        /// How many names were looked at.
        var count = 0
        var bytes = 0
        /// How many values stay, since their destination has one.
        var kept = 0
        /// Whether the last one was changed while it was read, so that its attributes may be another write's.
        var isTorn = false
    }

    let ledger: BulkLedger
    let policy: MigrationConflictPolicy
    /// The values that are not brought any more.
    var superseded = SupersededValues()

    private var migration: AnyBulkMigration { ledger.migration }

    /// Moves the first of some names.
    ///
    /// - Parameter entry: The ledger's row; the values count there, and it is committed if any came to the destination.
    /// - Returns: How many names were looked at.
    func move(_ names: ArraySlice<String>, _ entry: inout LedgerEntry) throws -> Int {
        if let name = names.first, !migration.changesValues {
            let source = try ledger.source.key(name)
            if try LargeMove.largeSize(of: source) != nil, try !mayStay(name) {
                try entry.page[migration.id]?.requireSamePack(as: migration)
                try ledger.moveLarge(source, policy: policy, &entry)
                return 1
            }
        }
        // What others change all the time keeps fewer values from being moved the fewer there are in a chunk.
        var (most, conflicts) = (ledger.chunkSize, 0)
        while true {
            let sources = try StoreView(ledger.source.scope)
            let destinations = try StoreView(ledger.destination.scope)
            var next = entry
            var progress = entry.row.bulk ?? BulkProgress(migration)
            var content = try content(names.prefix(most), sources, destinations, progress.chunks)
            progress.kept += content.kept
            progress.after = names.prefix(content.count).last ?? progress.after
            guard !content.moves.isEmpty || content.isTorn else {
                entry.row.bulk = progress
                return content.count
            }
            try entry.page[migration.id]?.requireSamePack(as: migration)
            let writes = content.moves.compactMap(\.write)
            let dropped = content.moves.count - writes.count
            if dropped > 0 { progress.dropped = (progress.dropped ?? 0) + dropped }
            next.row.bulk = progress
            let (number, records) = try ledger.add(content.record.encoded(), of: writes.count, to: &next.row)
            guard
                try !content.isTorn
                    && next.commit(with: ChunkWrite.changes(writes) + records, views: [destinations])
            else {
                most = max(1, content.count / 2)
                conflicts += content.count == 1 ? 1 : 0
                guard conflicts == MoveLimits.attempts, let name = names.first else { continue }
                entry.pending.append(ledger.source.address(name))
                entry.row.bulk = entry.row.bulk ?? BulkProgress(migration)
                entry.row.bulk?.after = name
                return 1
            }
            entry = next
            try verify(writes, &entry)
            try remove(content.moves, number, sources, &content.record, &entry)
            return content.count
        }
    }

    /// Whether the policy says what becomes of a value, or it is not brought any more: then it is looked at as a whole.
    private func mayStay(_ name: String) throws -> Bool {
        if superseded.knows(name) { return true }
        guard policy == .dropSource else { return false }
        let destination = try ledger.destination.key(migration.destinationName(of: name))
        return try destination.isStored()
    }

    /// Reads and converts.
    ///
    /// - Parameter number: The chunk's.
    private func content(
        _ names: ArraySlice<String>, _ sources: StoreView, _ destinations: StoreView, _ number: Int
    ) throws -> Content {
        var content = Content()
        for name in names.prefix(ledger.chunkSize) where content.bytes < MoveLimits.bytes {
            let source = try ledger.source.key(name)
            let given = try source.readAttributes()
            // A large one is moved by itself, in pieces.
            if content.count > 0, !migration.changesValues, given?.size ?? 0 > MoveLimits.whole { break }
            content.count += 1
            guard let stored = try sources.read(source) else { continue }
            content.isTorn = try source.readAttributes() != given
            if content.isTorn { break }
            let destination = try ledger.destination.key(
                migration.destinationName(of: name), ledger.attributes(of: given, isChanged: false))
            let replaced = try destinations.read(destination)
            switch MigrationVerdict(
                policy, isThere: replaced != nil,
                isSuperseded: superseded.holds(source, stored, besidesValue: replaced != nil))
            {
            case .bring: try bring(source, stored, given, to: destination, replaced, number, &content)
            case .keep: content.kept += 1
            case .drop: try drop(source, stored, given, number, &content)
            case .refuse: throw MigrationError.conflict(at: destination.address)
            }
        }
        return content
    }

    private func bring(
        _ source: ResolvedKey, _ stored: Data, _ given: ValueAttributes?, to destination: ResolvedKey,
        _ replaced: Data?, _ number: Int, _ content: inout Content
    ) throws {
        let index = content.moves.count
        let original = try source.opening(stored)
        try source.requireOpened(original)
        let data = migration.changesValues ? try migration.convert(original, named: source.address.name) : original
        let isChanged = migration.changesValues && data != original
        if isChanged { try migration.destination.key(destination.address.name).check(data) }
        let mark = StableHash.of(stored)
        var item = BulkRecord.Item(
            suffix: ledger.suffix(of: source.address.name), flags: isChanged ? .isChanged : [],
            attributes: content.record.number(of: given), source: mark,
            destination: !isChanged && source.layers.isEmpty ? mark : StableHash.of(data))
        var image: BatchChange?
        if let replaced {
            let former = try destination.opening(replaced)
            item.flags.insert(.isReplaced)
            item.replaced = StableHash.of(former)
            let kept = try destination.readAttributes()?.kept
            if ledger.grace > 0 {
                image = try ledger.image(.destination, of: destination, number, index, kept).changing(to: former)
            }
        }
        content.record.items.append(item)
        let target =
            isChanged ? try destination.writing(ledger.attributes(of: given, isChanged: true)) : destination
        content.moves.append(
            Move(
                source: source, image: isChanged ? try keeping(original, of: source, given, number, index) : nil,
                write: ChunkWrite(key: target, data: data, image: image)))
        content.bytes += stored.count + data.count
    }

    /// Takes a value that is removed and goes nowhere.
    private func drop(
        _ source: ResolvedKey, _ stored: Data, _ given: ValueAttributes?, _ number: Int, _ content: inout Content
    ) throws {
        content.record.items.append(
            BulkRecord.Item(
                suffix: ledger.suffix(of: source.address.name), flags: [.isChanged, .isDropped],
                attributes: content.record.number(of: given), source: StableHash.of(stored), destination: 0))
        let image = try keeping(source.opening(stored), of: source, given, number, content.moves.count)
        content.moves.append(Move(source: source, image: image, write: nil))
        content.bytes += stored.count
    }

    /// The change that keeps a source's value.
    private func keeping(
        _ original: Data, of source: ResolvedKey, _ given: ValueAttributes?, _ number: Int, _ index: Int
    ) throws(StorageError) -> BatchChange? {
        guard ledger.grace > 0 else { return nil }
        return try ledger.image(.source, of: source, number, index, given?.kept).changing(to: original)
    }

    /// Reads back what was written.
    private func verify(_ writes: [ChunkWrite], _ entry: inout LedgerEntry) throws {
        let view = try StoreView(ledger.destination.scope)
        for write in writes {
            if let stored = try view.read(write.key), try write.isEqual(to: stored) { continue }
            throw try entry.unverified(chunkOf: write.key.address, write.key.open)
        }
    }

    private func remove(
        _ moves: [Move], _ number: Int, _ view: StoreView, _ record: inout BulkRecord, _ entry: inout LedgerEntry
    ) throws {
        var changes: [BatchChange] = []
        changes.reserveCapacity(moves.count)
        for move in moves {
            if let image = move.image { changes.append(image) }
            changes.append(move.source.changing(to: nil))
        }
        guard try !ledger.apply(changes, views: [view]) else {
            entry.row.bulk?.isOpen = false
            return
        }
        try ledger.clean(number, &record, &entry)
    }
}
