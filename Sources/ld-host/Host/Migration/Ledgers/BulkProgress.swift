internal import LocalDataAPI

/// How far a bulk migration is: a part of its row in the ledger.
package struct BulkProgress: Codable, Equatable, Sendable {
    /// The ranges, for people.
    package let source: String
    package let destination: String
    /// The source's name that was looked at last; `nil` at the beginning, and when all have been.
    var after: String?
    /// How many chunks there have been; each has a record, numbered from 0, until it is dropped.
    var chunks = 0
    /// The number of the first record that is kept.
    var firstRecord = 0
    /// Whether the sources of the last chunk may still be there.
    var isOpen = false
    /// Whether the migration is being rolled back: the sources of the last chunk may be there again, besides its
    /// destinations.
    package var isUndone: Bool?
    /// How many values came to their destination.
    var moved = 0
    /// How many values stayed, since their destination had one.
    var kept = 0
    /// How many sources were removed whose destination had a value, which stayed.
    var dropped: Int?
    /// How many sources stayed, since someone had changed them.
    var left = 0

    /// Whether the numbers fit each other; what counts with them relies on that.
    var isSound: Bool {
        let most = 1 << 48
        return firstRecord >= 0 && firstRecord <= chunks && chunks < most
            && [moved, kept, dropped ?? 0, left].allSatisfy { (0..<most).contains($0) }
    }

    init(_ migration: AnyBulkMigration) {
        source = migration.source.description
        destination = migration.destination.description
    }

    /// Takes the last chunk out of the numbers.
    mutating func undo(_ record: BulkRecord, _ number: Int) {
        (chunks, after) = (number, nil)
        let gone = record.items.count { $0.flags.contains(.isDropped) }
        moved = max(0, moved - record.items.count + gone)
        left = max(0, left - record.items.count { $0.flags.contains(.isLeft) })
        if let known = dropped { dropped = max(0, known - gone) }
    }
}
