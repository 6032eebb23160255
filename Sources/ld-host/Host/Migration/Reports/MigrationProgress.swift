internal import LocalDataAPI

/// The progress of a run of migrations.
public struct MigrationProgress: Codable, Hashable, Sendable {
    /// See `StorageMigration.id`.
    public let migration: String
    /// How many values of this migration are done.
    public let done: Int
    /// How many values this migration has, as far as known yet.
    public let total: Int
    /// The index of this migration in the run, from 0.
    public let index: Int
    /// How many migrations the run has.
    public let count: Int

    init(migration: String, done: Int, total: Int, index: Int, count: Int) {
        self.migration = migration
        self.done = done
        self.total = total
        self.index = index
        self.count = count
    }

    /// The completed part of the run, from 0 to 1. Each migration counts alike, however many values it has.
    public var fraction: Double {
        guard count > 0 else { return 1 }
        let own = total > 0 ? Double(min(done, total)) / Double(total) : 0
        return (Double(index) + own) / Double(count)
    }
}
