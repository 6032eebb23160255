internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// Looks for what can never be right before a bulk migration writes anything: names that would collide, and conflicts
/// that are to be failures. Calls may wait.
struct BulkCheck {
    let ledger: BulkLedger
    let policy: MigrationConflictPolicy
    /// The other bulk migrations, for values that would come to the same names.
    let others: [AnyBulkMigration]

    private var migration: AnyBulkMigration { ledger.migration }

    /// - Parameter counting: Whether the caller wants to know how many values there are.
    /// - Returns: How many there are; 0 if nobody wants to know and no name has to be looked at.
    /// - Throws: `validationFailed` or `conflict` naming the values; `storageFailed` if the source cannot be listed.
    func run(counting: Bool) throws -> Int {
        try checkRanges()
        let isNested = samePlace && migration.source.prefix.utf8.starts(with: migration.destination.prefix.utf8)
        let growth = migration.destination.prefix.utf8.count - migration.source.prefix.utf8.count
        let rivals = try rivals()
        guard counting || isNested || growth != 0 || policy == .fail || !rivals.isEmpty else { return 0 }
        var count = 0
        var failure: (any Error)?
        try ledger.source.forEachName { name in
            count += 1
            do {
                let isTooLong = name.utf8.count + growth > StorageAddress.longestName || name.utf8.count + growth == 0
                guard isNested || isTooLong || policy == .fail || !rivals.isEmpty else { return true }
                try check(name, isNested, rivals)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        return count
    }

    /// Throws if the ranges themselves are wrong, as the configuration has them here.
    func checkRanges() throws {
        let (source, destination) = (ledger.source, ledger.destination)
        guard !samePlace || !destination.range.prefix.utf8.starts(with: source.range.prefix.utf8) else {
            throw MigrationError(
                .validationFailed,
                "it would move '\(source.namespace)/\(source.range.prefix)*' to "
                    + "'\(destination.namespace)/\(destination.range.prefix)*', which is a part of it")
        }
    }

    private var samePlace: Bool {
        let (source, destination) = (ledger.source, ledger.destination)
        return source.open.keepsSameValues(as: destination.open)
            && source.namespace.keepsSameValues(as: destination.namespace)
    }

    private func check(_ name: String, _ isNested: Bool, _ rivals: [Rival]) throws {
        let new = ledger.destination.address(migration.destinationName(of: name))
        let old = ledger.source.address(name)
        do { try new.validate() } catch {
            throw MigrationError(
                .validationFailed, "'\(old)' cannot be moved to '\(new.place)': \(error.message)", underlying: error)
        }
        if isNested, migration.source.contains(new.name) {
            throw MigrationError(
                .conflict, "'\(old)' would become '\(new)', which would be moved as well; nothing was moved")
        }
        if policy == .fail, try ledger.destination.key(new.name).isStored() {
            throw MigrationError(
                .conflict, "'\(old)' would be moved to '\(new)', which has a value; nothing was moved")
        }
        for rival in rivals where rival.migration.destination.contains(new.name) {
            let other = try rival.source.key(rival.migration.sourceName(of: new.name))
            guard other.address != old, try other.isStored() else { continue }
            throw MigrationError(
                .conflict,
                "'\(old)' would become '\(new)', and so would '\(other.address)' by the migration '\(rival.migration.id)'; "
                    + "nothing was moved")
        }
    }

    /// Another migration that brings values to the same range.
    private struct Rival {
        let migration: AnyBulkMigration
        let source: BulkPlace
    }

    private func rivals() throws -> [Rival] {
        try others.compactMap { other in
            guard other.id != migration.id, !other.dependencies.contains(migration.id),
                !migration.dependencies.contains(other.id),
                let place = try? ledger.snapshot.settings.place(of: other.destination.domain),
                place == ledger.destination.namespace,
                other.destination.contains(migration.destination.prefix)
                    || migration.destination.contains(other.destination.prefix)
            else { return nil }
            return Rival(migration: other, source: try BulkPlace(other.source, ledger.snapshot))
        }
    }
}
