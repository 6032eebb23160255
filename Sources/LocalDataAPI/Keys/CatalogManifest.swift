#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A catalog without its types, as a JSON document. An app writes it so that tools know its keys. Its addresses name
/// the app, so that they are the same for every program.
///
/// ```json
/// {
///   "format": 1, "name": "AppCatalog",
///   "keys": [ { "address": "userDefaults:settings/theme", "security": "none", ... } ]
/// }
/// ```
public struct CatalogManifest: StorageKeyCatalog {
    /// The catalog's name.
    public let name: String
    /// Its keys.
    public let allKeys: [AnyStorageKey]
    /// The app whose name the written addresses get; empty if they have it, or belong to no app.
    private let app: String

    /// The manifest of a catalog.
    ///
    /// - Parameter app: The identifier of the app whose keys they are, if it is another than the name of this program's
    ///   executable; empty for keys of no app.
    public init(_ catalog: some StorageKeyCatalog, app: String? = nil) {
        name = catalog.name
        allKeys = catalog.allKeys
        self.app = app ?? AppIdentifier.ofThisProgram
    }

    /// Reads a manifest.
    ///
    /// - Parameter source: The file's name for errors.
    /// - Throws: `invalidConfiguration` with the file and the malformed key.
    public init(json: Data, source: String) throws(StorageError) {
        let document: Document
        do { document = try JSONCoding.decode(Document.self, from: json) } catch {
            let reason = (error as? StorageError)?.message ?? "\(CodingFailure(error))"
            throw StorageError(
                .invalidConfiguration, "catalog '\(source)' is not a manifest: \(reason)", hint: Self.advice)
        }
        guard document.format == Self.format else {
            throw StorageError(
                .invalidConfiguration,
                "catalog '\(source)' has format \(document.format); this version reads format \(Self.format)",
                hint: "write it again with this version's LocalDataAPI")
        }
        name = document.name
        var keys: [AnyStorageKey] = []
        for entry in document.keys {
            do { keys.append(AnyStorageKey(try entry.descriptor(catalog: document.name))) } catch {
                throw StorageError(
                    .invalidConfiguration, "catalog '\(source)', key '\(entry.address)': \(error.message)",
                    hint: error.hint)
            }
        }
        allKeys = keys
        app = ""
    }

    /// The manifest as JSON, members and keys in order.
    ///
    /// - Throws: `serializationFailed`.
    public func json() throws(StorageError) -> Data {
        let entries = allKeys.map { Entry($0.descriptor, app) }.sorted { $0.address < $1.address }
        do {
            return try JSONCoding.encode(Document(format: Self.format, name: name, keys: entries))
        } catch {
            throw StorageError(
                .serializationFailed, "the catalog '\(name)' could not be written: \(CodingFailure(error))")
        }
    }

    private static let format = 1
    private static let advice =
        "correct it, or let the app write it again; its form is in the guide SyncingDevices.md, which is installed in "
        + "share/doc/localdata"

    private struct Document: Codable {
        let format: Int
        let name: String
        let keys: [Entry]
    }
}

extension CatalogManifest {
    /// One key of a manifest.
    private struct Entry: Codable {
        let address: String
        let security: SecurityPolicy
        let serializer: SerializerFormat
        let type: String
        let owner: String
        let description: String
        let availability: PlatformAvailability
        let sync: SyncPolicy
        /// In seconds.
        let lifetime: Double?

        private enum CodingKeys: String, CodingKey {
            case address, security, serializer, type, owner, description, availability, sync, lifetime
        }

        init(_ descriptor: StorageKeyDescriptor, _ app: String) {
            address = "\(descriptor.domain.ofApp(app))/\(descriptor.name)"
            security = descriptor.security
            serializer = descriptor.serializer
            type = descriptor.valueType
            owner = descriptor.owner
            description = descriptor.description
            availability = descriptor.availability
            sync = descriptor.syncPolicy
            lifetime = descriptor.lifetime.map { $0 / .seconds(1) }
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            address = try members.decode(String.self, forKey: .address)
            security = try Self.policy(members, of: address)
            serializer = try Self.word(.serializer, members, of: address)
            type = try members.decode(String.self, forKey: .type)
            owner = try members.decode(String.self, forKey: .owner)
            description = try members.decode(String.self, forKey: .description)
            availability = try Self.word(.availability, members, of: address)
            sync = try Self.word(.sync, members, of: address)
            lifetime = try members.decodeIfPresent(Double.self, forKey: .lifetime)
        }

        /// A person may have written the document: an error names the words that there are.
        private static func word<Word: RawRepresentable<String> & CaseIterable>(
            _ key: CodingKeys, _ members: KeyedDecodingContainer<CodingKeys>, of address: String
        ) throws -> Word {
            let text = try members.decode(String.self, forKey: key)
            guard let word = Word(rawValue: text) else {
                throw StorageError(
                    .invalidConfiguration,
                    "key '\(address)': '\(key.stringValue)' is '\(text)'; expected \(words(Word.self))")
            }
            return word
        }

        private static func words<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> String {
            let words = Word.allCases.map(\.rawValue)
            return words.dropLast().joined(separator: ", ") + " or " + words.suffix(1).joined()
        }

        private static func policy(
            _ members: KeyedDecodingContainer<CodingKeys>, of address: String
        ) throws -> SecurityPolicy {
            do { return try members.decode(SecurityPolicy.self, forKey: .security) } catch {
                guard members.contains(.security) else { throw error }
                throw StorageError(
                    .invalidConfiguration,
                    "key '\(address)': 'security' is no policy; expected none, or an object with 'cipher', "
                        + "AES-256-GCM or ChaCha20-Poly1305, or one with 'accessibility', \(words(KeychainAccessibility.self))"
                )
            }
        }

        func descriptor(catalog: String) throws(StorageError) -> StorageKeyDescriptor {
            let known = try StorageKeyDescriptor(address: address)
            if let lifetime, !(lifetime > 0 && lifetime < 1e10) {
                throw StorageError(
                    .invalidConfiguration, "its lifetime is \(lifetime); expected seconds, more than 0 and below 10^10")
            }
            return StorageKeyDescriptor(
                name: known.name, domain: known.domain, security: security, serializer: serializer, valueType: type,
                owner: owner, description: description, availability: availability, syncPolicy: sync,
                lifetime: lifetime.map { .seconds($0) }, catalog: catalog)
        }
    }
}
