internal import LocalDataAPI

/// Two bulk migrations of which each takes what the other brings: no order of them is right.
enum MigrationSwap {
    /// - Throws: `conflict` naming the two.
    static func refuse(in migrations: [KnownMigration]) throws(MigrationError) {
        let bulk = migrations.compactMap { if case .bulk(let migration) = $0 { migration } else { nil } }
        for (index, first) in bulk.enumerated() {
            for second in bulk[(index + 1)...]
            where first.destination.overlaps(second.source) && second.destination.overlaps(first.source) {
                throw MigrationError(
                    .conflict,
                    "the migrations '\(first.id)' and '\(second.id)' each take what the other brings; move one of the "
                        + "ranges to a third place first")
            }
        }
    }
}

extension MigrationRange {
    /// Whether a name can be one of both.
    func overlaps(_ other: MigrationRange) -> Bool {
        domain == other.domain && (contains(other.prefix) || other.contains(prefix))
    }
}
