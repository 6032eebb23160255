internal import LocalDataPluginAPI

/// How a stream is configured; an optional part is not in every version of the server.
struct StreamConfiguration: Codable {
    var name: String
    var subjects: [String]?
    var retention = "limits"
    var storage = "file"
    var discard = "new"
    var replicas = 1
    /// In nanoseconds; 0 for no limit.
    var maxAge: Int64 = 0
    var maxMessages: Int64 = -1
    var maxBytes: Int64 = -1
    var maxMessagesPerSubject: Int64 = 1
    var maxMessageSize: Int64? = -1
    var allowsRollup: Bool? = true
    var deniesDelete: Bool? = true
    var allowsDirect: Bool? = true
    var isSealed: Bool?
    var deniesPurge: Bool?
    /// In nanoseconds.
    var duplicateWindow: Int64? = 1_000_000_000
    var discardsNewPerSubject: Bool?
    var doesNotAcknowledge: Bool?
    var transform: SubjectTransform?
    /// `async` for a stream that stores messages after it has acknowledged them.
    var persistence: String?

    enum CodingKeys: String, CodingKey {
        case name, subjects, retention, storage, discard
        case replicas = "num_replicas"
        case maxAge = "max_age"
        case maxMessages = "max_msgs"
        case maxBytes = "max_bytes"
        case maxMessagesPerSubject = "max_msgs_per_subject"
        case maxMessageSize = "max_msg_size"
        case allowsRollup = "allow_rollup_hdrs"
        case deniesDelete = "deny_delete"
        case allowsDirect = "allow_direct"
        case isSealed = "sealed"
        case deniesPurge = "deny_purge"
        case duplicateWindow = "duplicate_window"
        case discardsNewPerSubject = "discard_new_per_subject"
        case doesNotAcknowledge = "no_ack"
        case transform = "subject_transform"
        case persistence = "persist_mode"
    }
}

extension StreamConfiguration {
    /// Why records in such a stream could get lost, or could not be replaced; `nil` if it is fine.
    func flaw(largest: Int) -> String? {
        if retention != "limits" { return "has retention '\(retention)'; expected 'limits'" }
        if storage != "file" { return "keeps its messages in \(storage); expected 'file'" }
        if maxAge > 0 { return "forgets messages after \(maxAge / 1_000_000_000) seconds; expected no limit" }
        if discard != "new", maxMessages > 0 || maxBytes > 0 {
            return "discards its oldest messages when it is full; expected discard 'new', or no limit"
        }
        if discardsNewPerSubject == true { return "refuses a new record in the place of an older one" }
        if doesNotAcknowledge == true { return "acknowledges nothing (no_ack)" }
        if let transform { return "stores its messages under other subjects ('\(transform.dest ?? "")')" }
        if let persistence, persistence != "default" {
            return "has the persist_mode '\(persistence)', which may lose what was acknowledged; expected 'default'"
        }
        if isSealed == true { return "is sealed" }
        if deniesPurge == true { return "does not allow a purge, which removing records needs" }
        if let size = maxMessageSize, size >= 0, size < Int64(largest) {
            return "accepts values of at most \(size) bytes; records have up to \(largest)"
        }
        return nil
    }
}
