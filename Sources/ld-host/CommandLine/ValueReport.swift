internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// A value with what is known of it, as JSON shows it: as text if it is UTF-8, in base64 otherwise.
struct ValueReport: Encodable {
    private let address: String
    private let size: Int
    private let text: String?
    private let base64: String?
    private let attributes: AttributeReport

    private enum CodingKeys: CodingKey {
        case address, size, text, base64
    }

    init(address: String, data: Data, attributes: ValueAttributes?) {
        self.address = address
        size = data.count
        text = String(validating: data, as: UTF8.self)
        base64 = text == nil ? data.base64EncodedString() : nil
        var known = attributes ?? ValueAttributes()
        known.size = nil
        self.attributes = AttributeReport(known)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(address, forKey: .address)
        try container.encode(size, forKey: .size)
        try container.encodeIfPresent(text, forKey: .text)
        try container.encodeIfPresent(base64, forKey: .base64)
        try attributes.encode(to: encoder)
    }
}

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
        state = MigrationText.name(of: record.state)
        revision = record.revision
        date = UTCTime.text(record.date)
        duration = record.duration
        appVersion = record.appVersion
        sources = record.sources
        destinations = record.destinations
    }
}

/// A plugin as JSON shows it.
struct PluginReport: Encodable {
    private let path: String
    private let origin: String
    private let plugin: PluginDescription?
    private let unused: [String: String]?
    private let refused: String?
    private let hint: String?

    /// - Parameter choices: The choices among all plugins: they say why components of this one do not serve.
    init(_ record: PluginRecord, among choices: [ComponentChoice] = []) {
        path = record.candidate.path
        origin = record.candidate.origin
        plugin = record.description
        let obstacles = ComponentChoice.obstacles(of: record, in: choices)
        unused = obstacles.isEmpty ? nil : obstacles
        refused = record.refusal?.message
        hint = record.refusal?.hint
    }

    /// An option's default for people.
    static func text(_ value: ComponentOption.Value) -> String {
        switch value {
        case .string(let text): "\"\(Printable(text))\""
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let value): "\(value)"
        case .list(let elements): "a list of \(elements.count)"
        }
    }
}
