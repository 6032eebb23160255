internal import FoundationEssentials
internal import LocalDataAPI

/// Moves all keys of a prefix: `prefix`, and `move` and `reencode` of a prefix.
struct RangeMove: BulkMigration {
    let id: String
    let revision: Int
    let dependencies: [String]
    let conflictPolicy: MigrationConflictPolicy
    let fingerprint: String?
    let from: ManifestKey
    let to: ManifestKey
    /// How the values become others, if they do.
    let reencoding: Reencoding?

    var source: MigrationRange { from.range }
    var destination: MigrationRange { to.range }
    var changesValues: Bool { reencoding != nil }
    var summary: String {
        "moves \(from.text) to \(to.text)" + (reencoding.map { " and writes the values as \($0.to.rawValue)" } ?? "")
    }

    func convert(_ data: Data, named name: String) throws -> Data {
        try reencoding?.convert(data, at: "\(from.domain)/\(name)") ?? data
    }
}
