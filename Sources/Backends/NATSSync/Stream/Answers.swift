internal import FoundationEssentials
internal import LocalDataAPI

/// An error in an answer of JetStream.
struct APIError: Decodable {
    let number: Int
    let description: String

    enum CodingKeys: String, CodingKey {
        case number = "err_code"
        case description
    }

    static let noStream = 10059
    static let streamExists = 10058
    static let noMessage = 10037
    static let wrongLastSequence = 10071
    static let wrongLastMessage = 10070

    /// The sequence that a refused condition found instead.
    var sequence: UInt64? { description.split(separator: " ").last.flatMap { UInt64($0) } }

    /// Converts it.
    ///
    /// - Parameter work: The action and its object.
    func error(_ work: String, _ host: String) -> StorageError {
        let (code, hint): (StorageError.Code, String) =
            switch number {
            case 10077, 10023, 10047, 10076:
                (.noSpace, "raise the limits of the stream or the account, or free some space")
            case 10054: (.valueTooLarge, "raise the bucket's largest size of a value")
            case 10039: (.storeUnavailable, "enable JetStream for the user's account")
            case Self.noStream: (.storeUnavailable, "create the bucket, or set option 'create' to true")
            default: (.storeUnavailable, "see the server's log")
            }
        return StorageError(code, "the server at \(host) refused \(work): \(description) (\(number))", hint: hint)
    }
}

/// What JetStream answers to a message that was published.
struct Acknowledgement: Decodable {
    let stream: String?
    let seq: UInt64?
    let error: APIError?
}

/// An answer of JetStream of which only success or failure counts.
struct Done: Decodable {
    let error: APIError?
}

/// The answer to a request for a stored message.
struct StoredMessage: Decodable {
    struct Content: Decodable { let seq: UInt64 }

    let message: Content?
    let error: APIError?
}

/// The answer to the creation of a consumer.
struct ConsumerInfo: Decodable {
    let name: String?
    let error: APIError?
}

/// The answer to a request for a stream.
struct StreamInfo: Decodable {
    struct State: Decodable {
        let lastSequence: UInt64

        enum CodingKeys: String, CodingKey { case lastSequence = "last_seq" }
    }

    let config: StreamConfiguration?
    let created: String?
    let state: State?
    let error: APIError?
}

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

/// Under which other subjects a stream stores its messages.
struct SubjectTransform: Codable {
    let src: String?
    let dest: String?
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
