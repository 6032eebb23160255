internal import LocalDataAPI

/// The migrations of a selection, each after those that it depends on.
struct SelectedMigrations<Migration: OrderedMigration> {
    let migrations: [Migration]

    /// - Throws: `validationFailed` if an id is not known, with those that are near; `unresolvedDependency` if some
    ///   depend on each other in a circle.
    init(_ known: [Migration], _ selection: MigrationSelection) throws(MigrationError) {
        let sorted = try MigrationOrder(known).sorted()
        let id: String
        switch selection {
        case .all:
            migrations = sorted
            return
        case .only(let given), .upTo(let given): id = given
        }
        guard let index = sorted.firstIndex(where: { $0.id == id }) else {
            throw MigrationError(
                .validationFailed, NearMigrations.unknown(id, among: sorted.map(\.id), in: "what is configured"))
        }
        let before = Array(sorted[...index])
        guard case .only = selection else {
            migrations = before
            return
        }
        // From the last one back: whatever one depends on comes before it.
        var needed: Set = [id]
        for migration in before.reversed() where needed.contains(migration.id) {
            needed.formUnion(migration.dependencies)
        }
        migrations = before.filter { needed.contains($0.id) }
    }
}

/// Helps who has mistyped an id.
enum NearMigrations {
    /// What is said of an id that is not known.
    ///
    /// - Parameter place: Where the others are known from.
    static func unknown(_ id: String, among known: [String], in place: String) -> String {
        let shown = id.count > 100 ? "\(id.prefix(100))..." : id
        let near = nearest(to: id, among: known).map { "'\($0)'" }
        let hint =
            switch near.count {
            case 0: known.isEmpty ? "there are no migrations" : "see: ld-host migrate status"
            case 1: "did you mean \(near[0])?"
            default: "did you mean one of \(near.joined(separator: ", "))?"
            }
        return "there is no migration '\(shown)' in \(place); \(hint)"
    }

    private static func nearest(to id: String, among known: [String]) -> [String] {
        let limit = max(2, id.count / 3)
        let found = Set(known).compactMap { candidate -> (id: String, distance: Int)? in
            guard abs(candidate.count - id.count) <= limit else { return nil }
            let distance = EditDistance.between(id, candidate)
            return distance <= limit ? (candidate, distance) : nil
        }
        return found.sorted { ($0.distance, $0.id) < ($1.distance, $1.id) }.prefix(3).map(\.id)
    }
}
