package import LocalDataAPI

/// Orders migrations so that each follows its dependencies; otherwise their order stays.
package struct MigrationOrder<Migration: OrderedMigration> {
    private let migrations: [Migration]
    private let byID: [String: Migration]

    package init(_ migrations: [Migration]) {
        self.migrations = migrations
        byID = Dictionary(migrations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Throws: `unresolvedDependency` with the circle if some depend on each other. A missing one is no error until
    ///   it is needed: it may be registered later.
    package func sorted() throws(MigrationError) -> [Migration] {
        var sorted: [Migration] = []
        var done: Set<String> = []
        for migration in migrations {
            // Each element leads to the one above it; no recursion, as chains may be long.
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
