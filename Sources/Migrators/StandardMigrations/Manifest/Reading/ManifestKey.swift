internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI

/// A key, or all keys whose names begin with a prefix, as a manifest names them: `userDefaults/theme`,
/// `userDefaults/old.*`, or an object with `address` (or `prefix`), `security`, `serializer` and `sync`.
struct ManifestKey: Sendable {
    /// What is allowed at a place of the manifest.
    enum Form: Sendable {
        case key, keyOrPrefix

        var expected: String {
            switch self {
            case .key: "a key such as userDefaults/theme, or an object with its address"
            case .keyOrPrefix: "a key such as userDefaults/theme, a prefix such as userDefaults/old.*, or an object"
            }
        }
    }

    let domain: StorageDomain
    /// The name, or the prefix.
    let name: String
    let isPrefix: Bool
    private(set) var security: SecurityPolicy
    /// The format of the bytes, if the manifest says it.
    private(set) var serializer: SerializerFormat?
    /// Whether the value takes part in sync.
    private var sync = SyncPolicy.never

    init(domain: StorageDomain, name: String, isPrefix: Bool, security: SecurityPolicy? = nil) {
        self.domain = domain
        self.name = name
        self.isPrefix = isPrefix
        self.security = security ?? domain.ownPolicy
    }

    /// As an address has it.
    var text: String { "\(domain)/\(name)\(isPrefix ? "*" : "")" }

    /// Whether both are the same key in the same place, or the same prefix.
    func isSame(as other: ManifestKey) -> Bool {
        domain == other.domain && isPrefix == other.isPrefix && name.utf8.elementsEqual(other.name.utf8)
    }

    /// Whether a key of one may be a key of the other.
    func overlaps(_ other: ManifestKey) -> Bool {
        guard domain == other.domain else { return false }
        switch (isPrefix, other.isPrefix) {
        case (false, false): return name.utf8.elementsEqual(other.name.utf8)
        case (true, false): return other.name.utf8.starts(with: name.utf8)
        case (false, true): return name.utf8.starts(with: other.name.utf8)
        case (true, true): return name.utf8.starts(with: other.name.utf8) || other.name.utf8.starts(with: name.utf8)
        }
    }

    /// The same, with a format in case that the manifest says none.
    func serialized(_ format: SerializerFormat?) -> ManifestKey {
        var key = self
        key.serializer = serializer ?? format
        return key
    }

    /// The key without a type.
    var key: AnyStorageKey {
        AnyStorageKey(
            StorageKeyDescriptor(
                name: name, domain: domain, security: security, serializer: serializer ?? .data, owner: "",
                description: "named by a manifest of migrations", syncPolicy: sync))
    }

    /// The keys of the prefix.
    var range: MigrationRange {
        MigrationRange(domain: domain, prefix: name, security: security, serializer: serializer ?? .data)
    }
}

extension ManifestKey {
    /// Reads a key.
    init(_ value: JSON, _ form: Form, at place: ManifestPlace) throws(ManifestFaults) {
        switch value.content {
        case .string(let text):
            let isPrefix = text.hasSuffix("*")
            guard !isPrefix || form == .keyOrPrefix else {
                throw place.expected(
                    form.expected, value, hint: "if the name ends in *, write { \"address\": ... }; see also 'move'")
            }
            try self.init(isPrefix ? String(text.dropLast()) : text, isPrefix: isPrefix, at: place)
        case .object:
            let object = try ManifestObject(
                value, at: place, members: ["address", "prefix", "security", "serializer", "sync"])
            let isPrefix = object.has("prefix")
            guard !isPrefix || !object.has("sync") else {
                throw place.error("has 'prefix' and 'sync'; the sync policy of many keys is in the app's catalog")
            }
            guard !isPrefix || form == .keyOrPrefix else { throw place.error("expected a key, found a prefix") }
            guard !isPrefix || !object.has("address") else {
                throw place.error("has 'address' and 'prefix'; expected one of them")
            }
            let member = isPrefix ? "prefix" : "address"
            try self.init(
                try object.text(member, "domain[:scope]/name"), isPrefix: isPrefix, at: place.member(member))
            serializer = try object.choice("serializer", SerializerFormat.allCases.map(\.rawValue))
                .flatMap { SerializerFormat(rawValue: $0) }
            if let policy = try object.choice("sync", SyncPolicy.allCases.map(\.rawValue)) {
                sync = SyncPolicy(rawValue: policy) ?? .never
            }
            if let policy = object.value("security") {
                security = try Self.policy(policy, at: place.member("security"))
            }
        default: throw place.expected(form.expected, value)
        }
    }

    private init(_ address: String, isPrefix: Bool, at place: ManifestPlace) throws(ManifestFaults) {
        do throws(StorageError) {
            let parts = try StorageAddress.parts(of: address)
            guard let name = parts.name, isPrefix || !name.isEmpty else {
                throw StorageError(
                    .invalidAddress, "\(ManifestPlace.quoted(address)) has no name",
                    hint: "write domain[:scope]/name, for example userDefaults/theme")
            }
            // A scope that the configuration fills in stands for one that is always right here.
            let domain = try StorageDomain(name: parts.domain, scope: parts.scope)
            let full = StorageAddress(
                StorageNamespace(domain: domain.name, scope: parts.scope ?? ""), name: name.isEmpty ? "*" : name)
            try full.validate()
            self.init(domain: domain, name: name, isPrefix: isPrefix)
        } catch { throw place.error(error.message, hint: error.hint) }
    }

    private static func policy(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) -> SecurityPolicy {
        do {
            // As an element, since a text alone is no document to every decoder.
            let policies = try JSONDecoder().decode([SecurityPolicy].self, from: Data(JSON.array([value]).text))
            if let policy = policies.first { return policy }
        } catch {
            // Said below, whatever it was.
        }
        throw place.error(
            "expected a security policy",
            hint: "write \"none\", { \"accessibility\": \"whenUnlocked\" } or { \"cipher\": \"ChaCha20-Poly1305\" }")
    }
}
