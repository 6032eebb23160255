internal import ByteCoding
internal import HostStores
internal import LocalDataAPI

/// Counts what a migration of many keys would move. Calls may wait.
struct BulkCount {
    let ledger: BulkLedger
    let planned: PlannedChanges
    /// The names of those that are left to the device that leads the sync group.
    private let waiting: Set<String>
    /// Whether what is moved has to be planned for later migrations.
    private let isFollowed: Bool
    private(set) var moved = 0
    private(set) var kept = 0
    private(set) var dropped = 0
    private var superseded = SupersededValues()
    /// The values that leave the source, and those of them that go nowhere.
    private var names: [String] = []
    private var droppedNames: Set<String> = []

    init(ledger: BulkLedger, planned: PlannedChanges, waiting: Set<String>, isFollowed: Bool) {
        (self.ledger, self.planned, self.waiting, self.isFollowed) = (ledger, planned, waiting, isFollowed)
    }

    /// - Parameter after: Where an interrupted run goes on.
    func run(besides others: [AnyBulkMigration], after: String?) throws -> BulkCount {
        let policy = ledger.migration.conflictPolicy
        _ = try BulkCheck(ledger: ledger, policy: policy, others: others).run(counting: true)
        var failure: (any Error)?
        var changed = planned.changes(in: ledger.source.namespace, of: ledger.source.open)
        var count = self
        count.superseded = try SupersededValues(ledger)
        try ledger.source.forEachName(after: after) { name in
            if changed.removeValue(forKey: name) == false { return true }
            do { try count.add(name, policy) } catch {
                failure = error
                return false
            }
            return true
        }
        if let failure { throw failure }
        // What earlier migrations would put there.
        for (name, isSet) in changed where isSet && ledger.migration.source.contains(name) {
            try count.add(name, policy)
        }
        for name in count.names { try count.plan(name) }
        return count
    }

    /// Plans the move of one value.
    private func plan(_ name: String) throws {
        let migration = ledger.migration
        let source = try ledger.source.key(name)
        let change = try change(of: source)
        planned.make(.removal, to: source)
        guard !droppedNames.contains(name), let change else { return }
        planned.make(change, to: try ledger.destination.key(migration.destinationName(of: name)))
    }

    /// What would come to the destination of a value; `nil` if it is gone, or cannot be converted.
    private func change(of source: ResolvedKey) throws -> MigrationTransaction.Entry.Change? {
        let migration = ledger.migration
        let name = source.address.name
        switch planned.change(of: source) {
        case .removal: return nil
        case .set(let data) where migration.changesValues:
            return (try? migration.convert(data, named: name)).map { .set($0) }
        case let change?: return change
        case nil: break
        }
        if !migration.changesValues, let size = try source.readAttributes()?.size {
            return .copy(of: migration.source.key(name), size: Int(clamping: size))
        }
        guard let stored = try source.readStored() else { return nil }
        guard migration.changesValues else { return .copy(of: migration.source.key(name), size: stored.count) }
        return (try? migration.convert(source.opening(stored), named: name)).map { .set($0) }
    }

    private mutating func add(_ name: String, _ policy: MigrationConflictPolicy) throws {
        guard !waiting.contains(name) else { return }
        guard policy == .keepDestination || policy == .dropSource || superseded.knows(name) else {
            note(name)
            return
        }
        let key = try ledger.destination.key(ledger.migration.destinationName(of: name))
        let isThere = if let change = planned.change(of: key) { change.isSet } else { try key.readStored() != nil }
        switch try MigrationVerdict(policy, isThere: isThere, isSuperseded: isSuperseded(name, isThere: isThere)) {
        case .bring, .refuse: note(name)
        case .drop:
            dropped += 1
            guard isFollowed else { return }
            names.append(name)
            droppedNames.insert(name)
        case .keep: kept += 1
        }
    }

    /// Counts a value that would be moved.
    private mutating func note(_ name: String) {
        moved += 1
        if isFollowed { names.append(name) }
    }

    private func isSuperseded(_ name: String, isThere: Bool) throws(StorageError) -> Bool {
        guard superseded.knows(name) else { return false }
        let source = try ledger.source.key(name)
        return try source.readStored().map { superseded.holds(source, $0, besidesValue: isThere) } ?? false
    }
}
