internal import LocalDataAPI
internal import LocalDataHost

/// One migration of a report or of the history, as JSON.
struct MigrationRow: Encodable {
    let migration: String
    var destination: String?
    var outcome: String?
    var error: String?
    var state: String?
    var revision: Int?
    var date: String?
    var duration: Double?
    var appVersion: String?
    var sources: [String]?
    var destinations: [String]?

    init(_ entry: MigrationReport.Entry) {
        migration = entry.migration ?? ""
        destination = "\(entry.destination.domain)/\(entry.destination.name)"
        outcome = "\(entry.outcome)"
        error = entry.error?.message
    }

    init(_ record: MigrationRecord) {
        migration = record.id
        state = record.state.rawValue
        revision = record.revision
        date = UTCTime.text(record.date)
        duration = record.duration
        appVersion = record.appVersion
        sources = record.sources
        destinations = record.destinations
    }
}
