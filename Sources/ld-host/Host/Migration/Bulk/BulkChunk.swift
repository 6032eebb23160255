internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// One chunk of a bulk migration, in turn in the destination's store. The order makes it safe to be stopped at any
/// point: what comes to the destination, the images of what that replaces, the record and the ledger's row are put in
/// place as one; what was written is read back; only then the sources are removed that nobody has changed.
struct BulkChunk {
    /// A value on its way.
    private struct Move {
        let source: ResolvedKey
        let destination: ResolvedKey
        /// The new value of the destination.
        let data: Data
        /// The value of the source, if it is converted.
        let original: Data?
        /// The value of the destination.
        let replaced: Data?
        let replacedAttributes: ValueAttributes?
        let item: BulkRecord.Item
        let attributes: ValueAttributes?
    }

    /// The most bytes of all values but the last.
    private static let mostBytes = 4 << 20
    private static let attempts = 3

    let ledger: BulkLedger
    let policy: MigrationConflictPolicy
    let superseded: SupersededValues
    private var migration: AnyBulkMigration { ledger.migration }

    init(
        _ ledger: BulkLedger, policy: MigrationConflictPolicy, superseded: SupersededValues = SupersededValues()
    ) {
        self.ledger = ledger
        self.policy = policy
        self.superseded = superseded
    }

    /// Moves the first of some names.
    ///
    /// - Parameter row: The ledger's row; the values count there, and it is committed if any came to the destination.
    /// - Parameter pending: Gets the addresses of sources that stay where they are because others kept changing them or
    ///   their destinations.
    /// - Returns: How many names were looked at.
    func move(
        _ names: ArraySlice<String>, _ row: inout LedgerRow, _ page: inout LedgerPage, pending: inout [StorageAddress]
    ) throws -> Int {
        if let name = names.first, !migration.changesValues {
            let source = try ledger.source.key(name)
            if try LargeMove.largeSize(of: source) != nil, try !mayStay(name) {
                try page[migration.id]?.requireSamePack(as: migration)
                let given = try source.sealedValue(source.layers).attributes()
                try BulkLarge(ledger).move(
                    name, given: given, attributes: ledger.attributes(of: given, isChanged: false), policy: policy,
                    &row, &page, pending: &pending)
                return 1
            }
        }
        // What others change all the time keeps fewer values from being moved the fewer there are in a chunk.
        var (most, conflicts) = (ledger.chunkSize, 0)
        while true {
            let sources = try StoreView(ledger.source.scope)
            let destinations = try StoreView(ledger.destination.scope)
            var record = BulkRecord()
            var progress = row.bulk ?? BulkProgress(migration)
            let (moves, count) = try moves(names.prefix(most), sources, destinations, &record, &progress)
            progress.after = names.prefix(count).last ?? progress.after
            guard !moves.isEmpty else {
                row.bulk = progress
                return count
            }
            try page[migration.id]?.requireSamePack(as: migration)
            let dropped = moves.count { $0.item.flags.contains(.isDropped) }
            if dropped > 0 { progress.dropped = (progress.dropped ?? 0) + dropped }
            let commit = try ledger.commit(try record.encoded(), of: moves.count - dropped, progress, row, page)
            let changes = try changes(moves, commit.number) + commit.changes
            guard try ledger.apply(changes, views: [destinations]) else {
                most = max(1, count / 2)
                conflicts += count == 1 ? 1 : 0
                guard conflicts == Self.attempts, let name = names.first else { continue }
                pending.append(ledger.source.address(name))
                row.bulk = row.bulk ?? BulkProgress(migration)
                row.bulk?.after = name
                return 1
            }
            (row, page) = (commit.row, commit.page)
            try verify(moves, &row, &page)
            try remove(moves, commit.number, sources, &record, &row, &page, &pending)
            return count
        }
    }

    /// Whether the policy says what becomes of a value, or it is not brought any more: then it is looked at as a whole.
    private func mayStay(_ name: String) throws -> Bool {
        if superseded.knows(name) { return true }
        guard policy == .dropSource else { return false }
        let destination = try ledger.destination.key(migration.destinationName(of: name))
        return try destination.open.repeating { () throws(StorageError) in
            try destination.store.exists(destination.handle)
        }
    }

    /// Reads and converts.
    private func moves(
        _ names: ArraySlice<String>, _ sources: StoreView, _ destinations: StoreView, _ record: inout BulkRecord,
        _ progress: inout BulkProgress
    ) throws -> (moves: [Move], count: Int) {
        var moves: [Move] = []
        var (count, bytes) = (0, 0)
        for name in names.prefix(ledger.chunkSize) where bytes < Self.mostBytes {
            let source = try ledger.source.key(name)
            let given = try source.sealedValue(source.layers).attributes()
            // A large one is moved by itself, in pieces.
            if count > 0, !migration.changesValues, given?.size ?? 0 > LargeMove.least { break }
            count += 1
            guard let stored = try sources.read(source) else { continue }
            let newName = migration.destinationName(of: name)
            var destination = try ledger.destination.key(newName, ledger.attributes(of: given, isChanged: false))
            let replaced = try destinations.read(destination)
            switch MigrationVerdict(
                policy, isThere: replaced != nil,
                isSuperseded: superseded.holds(source, stored, besidesValue: replaced != nil))
            {
            case .bring: break
            case .keep:
                progress.kept += 1
                continue
            case .drop:
                moves.append(try drop(source, destination, stored, given, &record))
                bytes += stored.count
                continue
            case .refuse: throw MigrationError.conflict(at: destination.address)
            }
            let original = try source.opening(stored)
            let data = migration.changesValues ? try migration.convert(original, named: name) : original
            let isChanged = migration.changesValues && data != original
            if isChanged {
                try migration.destination.key(newName).check(data)
                destination = try destination.writing(ledger.attributes(of: given, isChanged: true))
            }
            let mark = StableHash.of(stored)
            var flags: BulkRecord.Flags = isChanged ? .isChanged : []
            if replaced != nil { flags.insert(.isReplaced) }
            let item = BulkRecord.Item(
                suffix: suffix(of: name), flags: flags,
                attributes: record.number(of: given), source: mark,
                destination: !isChanged && source.layers.isEmpty ? mark : StableHash.of(data),
                replaced: try replaced.map { StableHash.of(try destination.opening($0)) })
            record.items.append(item)
            let replacedAttributes = try replaced.map { _ in
                try destination.sealedValue(destination.layers).attributes()
            }
            moves.append(
                Move(
                    source: source, destination: destination, data: data, original: isChanged ? original : nil,
                    replaced: replaced, replacedAttributes: replacedAttributes ?? nil, item: item, attributes: given))
            bytes += stored.count + data.count
        }
        return (moves, count)
    }

    private func suffix(of name: String) -> String {
        String(decoding: name.utf8.dropFirst(migration.source.prefix.utf8.count), as: UTF8.self)
    }

    /// A value that is removed and goes nowhere.
    private func drop(
        _ source: ResolvedKey, _ destination: ResolvedKey, _ stored: Data, _ given: ValueAttributes?,
        _ record: inout BulkRecord
    ) throws -> Move {
        let item = BulkRecord.Item(
            suffix: suffix(of: source.address.name), flags: [.isChanged, .isDropped],
            attributes: record.number(of: given), source: StableHash.of(stored), destination: 0)
        record.items.append(item)
        return Move(
            source: source, destination: destination, data: Data(), original: try source.opening(stored), replaced: nil,
            replacedAttributes: nil, item: item, attributes: given)
    }

    private func changes(_ moves: [Move], _ number: Int) throws -> [BatchChange] {
        var changes: [BatchChange] = []
        changes.reserveCapacity(moves.count + 2)
        for (index, move) in moves.enumerated() where !move.item.flags.contains(.isDropped) {
            if let replaced = move.replaced, ledger.grace > 0 {
                let image = try ledger.image(
                    ofDestination: move.destination, number, index, move.replacedAttributes?.kept)
                changes.append(image.changing(to: try move.destination.opening(replaced)))
            }
            changes.append(move.destination.changing(to: move.data))
        }
        return changes
    }

    /// Reads back what was written.
    private func verify(_ moves: [Move], _ row: inout LedgerRow, _ page: inout LedgerPage) throws {
        let view = try StoreView(ledger.destination.scope)
        for move in moves where !move.item.flags.contains(.isDropped) {
            let key = move.destination
            if let stored = try view.read(key), try key.opening(stored) == move.data { continue }
            throw try ledger.unverified(key.address, &row, &page)
        }
    }

    private func remove(
        _ moves: [Move], _ number: Int, _ view: StoreView, _ record: inout BulkRecord, _ row: inout LedgerRow,
        _ page: inout LedgerPage, _ pending: inout [StorageAddress]
    ) throws {
        var changes: [BatchChange] = []
        changes.reserveCapacity(moves.count)
        for (index, move) in moves.enumerated() {
            if let original = move.original, ledger.grace > 0 {
                let image = try ledger.image(ofSource: move.source, number, index, move.attributes?.kept)
                changes.append(image.changing(to: original))
            }
            changes.append(move.source.changing(to: nil))
        }
        guard try !ledger.apply(changes, views: [view]) else {
            row.bulk?.isOpen = false
            return
        }
        try BulkCleanup(ledger).run(number, &record, &row, &page, pending: &pending)
    }
}
