internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The header of a sealed value, for people and as JSON. Bytes are hexadecimal.
struct EnvelopeReport: Encodable {
    private struct Derivation: Encodable {
        let function: String
        /// Iterations of PBKDF2, passes of Argon2id.
        var iterations: UInt32?
        /// In KiB.
        var memory: UInt32?
        var salt: String?
        var info: String?
    }

    private let version: Int
    private let cipher: String
    private let derivation: Derivation
    private let keyID: String
    private let ring: String?
    private let salt: String
    private let headerSize: Int
    private let sealedSize: UInt64
    private let chunkSize: Int
    /// `nil` if no envelope with this header has this size.
    private let chunks: Int?
    /// Of the value.
    private let size: Int?
    private let attributes: AttributeReport

    /// Reads the header of an envelope.
    ///
    /// - Parameters:
    ///   - start: All of it, or the first 16 KiB at least.
    ///   - sealedSize: Bytes of all of it.
    init(_ start: Data, sealedSize: UInt64) throws(EnvelopeFault) {
        let parsed = start.withUnsafeBytes { bytes in
            Result { () throws(EnvelopeFault) in try EnvelopeHeader(parsing: bytes) }
        }
        let header = try parsed.get()
        let extent = header.extent(of: sealedSize)
        version = Int(start[start.startIndex + 4])
        cipher = "\(header.cipher)"
        derivation =
            switch header.derivation {
            case .hkdf(let salt, let info):
                Derivation(function: "HKDF-SHA256", salt: salt.map(Self.hex), info: info.map(Self.hex))
            case .pbkdf2(let iterations, let salt):
                Derivation(function: "PBKDF2-HMAC-SHA256", iterations: iterations, salt: Self.hex(salt))
            case .argon2id(let passes, let memory, let salt):
                Derivation(function: "Argon2id", iterations: passes, memory: memory, salt: Self.hex(salt))
            }
        keyID = "\(header.keyID)"
        ring = header.ring
        salt = Self.hex(header.salt)
        headerSize = header.encoded.count
        self.sealedSize = sealedSize
        chunkSize = header.chunkSize
        chunks = extent?.chunks
        size = extent?.value
        attributes = AttributeReport(header.attributes)
    }

    /// Whether an envelope with this header can have this size.
    var isWhole: Bool { chunks != nil }

    /// Prints a table.
    func print() {
        var table = Table()
        func add(_ name: String, _ text: String?) {
            if let text { table.add(name, "\(Printable(text))") }
        }
        add("version", "\(version)")
        add("cipher", cipher)
        add("derivation", derivation.function)
        add(derivation.memory == nil ? "  iterations" : "  passes", derivation.iterations.map(String.init))
        add("  memory", derivation.memory.map { "\($0) KiB" })
        add("  salt", derivation.salt)
        add("  info", derivation.info)
        add("key", keyID)
        add("ring", ring)
        add("salt", salt)
        add("header", headerSize.counted("byte"))
        add("chunks", chunks.map { "\($0), of at most \(chunkSize.counted("byte"))" })
        add("value", size.map { $0.counted("byte") })
        add("content type", attributes.contentType)
        add("serializer", attributes.serializer)
        add("version tag", attributes.versionTag)
        add("app version", attributes.appVersion)
        add("owner", attributes.owner)
        table.print()
    }

    private static func hex(_ bytes: Data) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
