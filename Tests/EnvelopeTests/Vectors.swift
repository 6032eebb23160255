import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import HostSealing
@testable import LocalDataHost

/// The test vectors, in the format of their file.
struct Vectors: Codable {
    struct Derivation: Codable {
        var function: String
        var iterations: UInt32?
        var memory: UInt32?
        var salt: String?
        var info: String?
    }

    struct Address: Codable {
        var domain: String
        var scope: String
        var name: String

        var address: StorageAddress { StorageAddress(StorageNamespace(domain: domain, scope: scope), name: name) }
    }

    /// A sealed value with all derived fields.
    struct Vector: Codable, Sendable, CustomTestStringConvertible {
        var name: String
        var cipher: String
        var derivation: Derivation
        var material: String
        var ringKeyID: String?
        var ring: String?
        var address: Address
        var salt: String
        var chunkExponent: UInt8
        var attributes: [String: String]
        var value: String?
        var valueSize: Int?
        var keyID: String
        var recordKey: String
        var header: String
        var sealed: String?
        var sealedSHA256: String

        var testDescription: String { name }
    }

    /// Bytes that every reader refuses.
    struct Refused: Codable, Sendable, CustomTestStringConvertible {
        var name: String
        var material: String
        var ringKeyID: String?
        var address: Address
        var sealed: String

        var testDescription: String { name }
    }

    var format = "LocalData envelope test vectors"
    var version = 1
    var vectors: [Vector]
    var refused: [Refused]

    static let all: Vectors? = try? JSONDecoder().decode(
        Vectors.self, from: Data(contentsOf: URL(filePath: Repository.vectors)))
}

extension EnvelopeKey {
    init(material: String, id: String?, ring: String? = nil) throws {
        let secret = try #require(Data(hex: material)).withUnsafeBytes { try SecretBytes(copying: $0) }
        self.init(secret, id: try id.map { try #require(KeyID($0)) }, ring: ring)
    }
}

extension Vectors.Vector {
    var envelopeKey: EnvelopeKey { get throws { try EnvelopeKey(material: material, id: ringKeyID, ring: ring) } }

    var plaintext: Data {
        get throws {
            if let value { return try #require(Data(hex: value)) }
            return .pattern(try #require(valueSize))
        }
    }

    var knownCipher: AuthenticatedCipher {
        get throws { try #require(AuthenticatedCipher.all.first { $0.name == cipher }) }
    }

    var knownDerivation: EnvelopeDerivation {
        get throws {
            let salt = try derivation.salt.map { try #require(Data(hex: $0)) }
            switch derivation.function {
            case "HKDF-SHA256":
                return .hkdf(salt: salt, info: try derivation.info.map { try #require(Data(hex: $0)) })
            case "PBKDF2-HMAC-SHA256":
                return .pbkdf2(iterations: try #require(derivation.iterations), salt: try #require(salt))
            default:
                return .argon2id(
                    passes: try #require(derivation.iterations), memory: try #require(derivation.memory),
                    salt: try #require(salt))
            }
        }
    }

    var valueAttributes: ValueAttributes {
        ValueAttributes(
            contentType: attributes["contentType"], serializer: attributes["serializer"],
            versionTag: attributes["versionTag"], appVersion: attributes["appVersion"], owner: attributes["owner"])
    }

    /// Seals with the vector's salt, which only a test may choose.
    func seal(_ crypto: LoadedCrypto) throws -> (header: EnvelopeHeader, recordKey: Data, sealed: Data) {
        let (cipher, derivation, key) = (try knownCipher, try knownDerivation, try envelopeKey)
        let salt = try #require(Data(hex: salt))
        let record = try RecordKey(key, derivation, salt: salt, for: cipher, crypto)
        let recordKey = Data(record.bytes)
        let header = try EnvelopeHeader(
            cipher: cipher, derivation: derivation, chunkExponent: chunkExponent, keyID: record.id, salt: salt,
            attributes: valueAttributes, ring: key.ring)
        var chunks = EnvelopeChunks(header, record, EnvelopeContext(address.address), crypto)
        let value = try plaintext
        var sealed = header.encoded
        var rest = value[...]
        repeat {
            let piece = Data(rest.prefix(header.chunkSize))
            rest = rest.dropFirst(piece.count)
            let output = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count + cipher.tagSize, alignment: 16)
            defer { output.deallocate() }
            let isLast = rest.isEmpty
            try piece.withBuffer { (piece) throws(StorageError) in try chunks.seal(piece, isLast: isLast, into: output)
            }
            sealed.append(contentsOf: output)
        } while !rest.isEmpty
        return (header, recordKey, sealed)
    }

    /// Whether a provider has the vector's algorithms.
    func isOffered(by crypto: LoadedCrypto) throws -> Bool {
        try crypto.offers(knownCipher) && crypto.offers(knownDerivation.function)
    }
}
