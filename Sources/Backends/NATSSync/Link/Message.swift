internal import CNATS
internal import FoundationEssentials

/// A message that arrived.
struct Message: Sendable {
    let subject: String
    let reply: String
    /// The server's status, e.g. 404 for "no messages"; `nil` for a message with content.
    let status: Int?
    /// The server's words for the status.
    let statusText: String
    /// Whether it is a tombstone that a tool for key-value buckets left.
    let isTombstone: Bool
    let data: Data

    /// Copies a message of the library.
    init(_ message: OpaquePointer) {
        func header(_ name: String) -> String? {
            var value: UnsafePointer<CChar>?
            guard natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
            return value.map { String(cString: $0) }
        }
        subject = natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
        reply = natsMsg_GetReply(message).map { String(cString: $0) } ?? ""
        let count = Int(natsMsg_GetDataLength(message))
        // Only messages of the server itself have a status, and they are empty.
        status = count == 0 ? header("Status").flatMap { Int($0) } : nil
        statusText = status == nil ? "" : header("Description") ?? ""
        isTombstone = count == 0 && header("KV-Operation") != nil
        data = natsMsg_GetData(message).map { Data(bytes: $0, count: count) } ?? Data()
    }

    private init(status: Int? = nil) {
        (subject, reply, statusText, isTombstone, data) = ("", "", "", false, Data())
        self.status = status
    }

    /// That nobody received a request: the library does not say which.
    static let noResponder = Message(status: 503)

    /// What a call gets when its link is open.
    static let opened = Message()

    /// Whether nobody received the request, e.g. since the server has no JetStream.
    var hasNoResponder: Bool { status == 503 }
}

/// A message to send.
struct Outgoing: Sendable {
    let subject: String
    /// Where the answer goes; `nil` if nobody waits for one.
    var reply: String?
    var headers: [(name: String, value: String)] = []
    var data = Data()
}
