package import FoundationEssentials
package import LocalDataHost

/// The state of all stores, found without changing it.
package struct ExerciseLook: Codable, Equatable, Sendable {
    /// The ledger's row of one migration.
    package struct Row: Codable, Equatable, Sendable {
        package let id: String
        package let revision: Int
        package let state: MigrationRecord.State
        package let sources: [String]
        package let destinations: [String]
    }

    /// The values, by address.
    package let values: [String: Data]
    /// The ledger.
    package let rows: [Row]
    /// The data that the host keeps in the stores for itself, store by store: pages of the ledger, images,
    /// hashes of written values, and parts of batches.
    package let kept: [String]
    /// The files of incomplete changes.
    package let debris: [String]
}
