internal import LocalDataAPI

/// Migrations in an order in which each comes after those that it depends on; otherwise in the order that they had.
struct MigrationOrder<Migration: OrderedMigration> {
    private let migrations: [Migration]
    private let byID: [String: Migration]

    init(_ migrations: [Migration]) {
        self.migrations = migrations
        byID = Dictionary(migrations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Throws: `unresolvedDependency` with the circle, if some depend on each other. One that is not there is no
    ///   error before it is needed: it may be registered later.
    func sorted() throws(MigrationError) -> [Migration] {
        var sorted: [Migration] = []
        var done: Set<String> = []
        for migration in migrations {
            // What is above is on the way to what is below; no recursion, as chains may be long.
            var path: [(migration: Migration, next: Int)] = []
            var onPath: Set<String> = []
            func enter(_ migration: Migration) throws(MigrationError) {
                guard !done.contains(migration.id) else { return }
                guard onPath.insert(migration.id).inserted else {
                    let circle = path.map(\.migration.id).drop { $0 != migration.id } + [migration.id]
                    throw MigrationError(
                        .unresolvedDependency,
                        "migrations depend on each other in a circle: \(circle.joined(separator: " -> "))")
                }
                path.append((migration, 0))
            }
            try enter(migration)
            while let (current, next) = path.last {
                guard next < current.dependencies.count else {
                    path.removeLast()
                    done.insert(current.id)
                    sorted.append(current)
                    continue
                }
                path[path.count - 1].next += 1
                if let dependency = byID[current.dependencies[next]] { try enter(dependency) }
            }
        }
        return sorted
    }
}

/// What a migration's turn depends on.
protocol OrderedMigration {
    var id: String { get }
    var dependencies: [String] { get }
}

extension AnyStorageMigration: OrderedMigration {}
extension AnyBulkMigration: OrderedMigration {}
