internal import FoundationEssentials
internal import LocalDataPluginAPI

/// A bucket's names in JetStream.
struct BucketNames: Sendable {
    let stream: String
    /// What a record's subject begins with.
    let prefix: String
    /// The message whose sequence counts how often records were lost; see ``StreamPosition``.
    let generation: String

    init(_ bucket: String) {
        stream = "KV_\(bucket)"
        prefix = "$KV.\(bucket)."
        generation = "$KV.\(bucket).generation"
    }

    func subject(of name: String, _ writer: String) -> String { "\(prefix)\(writer).\(name)" }

    /// The writer and the name of a subject; `nil` for what is no record.
    func record(of subject: String) -> (writer: String, name: String)? {
        guard subject.hasPrefix(prefix) else { return nil }
        let parts = subject.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ SyncRecord.isUsable($0.utf8) }) else { return nil }
        return (String(parts[0]), String(parts[1]))
    }

    func api(_ request: String) -> String { "$JS.API.\(request).\(stream)" }
}

/// The content of a request for a stored message.
struct MessageRequest: Encodable {
    var seq: UInt64?
    var last: String?
    var next: String?

    enum CodingKeys: String, CodingKey {
        case seq
        case last = "last_by_subj"
        case next = "next_by_subj"
    }
}

/// The content of a request to purge a subject.
struct PurgeRequest: Encodable {
    let filter: String
    /// The first sequence that is kept.
    let seq: UInt64
}

/// The content of a request for a consumer that nobody else uses, and that ends when it is no longer used.
struct ConsumerRequest: Encodable {
    struct Configuration: Encodable {
        var policy = "new"
        var start: UInt64?
        var subject: String?
        var isHeadersOnly: Bool?
        /// Times in nanoseconds.
        var heartbeat: Int64?
        var inactive: Int64 = 30_000_000_000
        let acknowledgement = "none"
        let replay = "instant"
        let isInMemory = true
        let replicas = 1

        enum CodingKeys: String, CodingKey {
            case policy = "deliver_policy"
            case start = "opt_start_seq"
            case subject = "deliver_subject"
            case isHeadersOnly = "headers_only"
            case heartbeat = "idle_heartbeat"
            case inactive = "inactive_threshold"
            case acknowledgement = "ack_policy"
            case replay = "replay_policy"
            case isInMemory = "mem_storage"
            case replicas = "num_replicas"
        }
    }

    let stream: String
    let config: Configuration

    enum CodingKeys: String, CodingKey {
        case stream = "stream_name"
        case config
    }
}

/// The content of a request for the next messages of a consumer.
struct NextRequest: Encodable {
    let batch: Int
    let bytes: Int
    let isImmediate = true

    enum CodingKeys: String, CodingKey {
        case batch
        case bytes = "max_bytes"
        case isImmediate = "no_wait"
    }
}
