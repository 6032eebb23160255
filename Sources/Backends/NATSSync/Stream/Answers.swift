internal import LocalDataPluginAPI

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

/// Under which other subjects a stream stores its messages.
struct SubjectTransform: Codable {
    let src: String?
    let dest: String?
}
