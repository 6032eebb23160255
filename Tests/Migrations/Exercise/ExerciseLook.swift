package import FoundationEssentials
package import LocalDataHost

/// What someone finds who brings nothing about by looking.
package struct ExerciseLook: Codable, Equatable, Sendable {
    /// What the ledger says of one migration.
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
    /// What the host keeps in the stores for itself, store by store: pages of the ledger, images, and parts of batches.
    package let kept: [String]
    /// Files of changes that were not completed.
    package let debris: [String]
}
