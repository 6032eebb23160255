package import CLocalData
internal import FoundationEssentials

/// A key in a migration pack's list. Missing members default to those of an address that no catalog describes.
struct MigrationKeyForm: Codable {
    let address: String
    var serializer: SerializerFormat?
    var security: SecurityPolicy?
    var type: String?
    var owner: String?
    var description: String?
    var availability: PlatformAvailability?
    /// Left out for `never`.
    var sync: SyncPolicy?

    init(_ key: StorageKeyDescriptor) {
        address = "\(key.domain)/\(key.name)"
        serializer = key.serializer
        security = key.security
        type = key.valueType
        owner = key.owner
        description = key.description
        availability = key.availability
        sync = key.syncPolicy == .never ? nil : key.syncPolicy
    }

    /// - Throws: `invalidAddress` with what is wrong with the address.
    func key() throws(StorageError) -> AnyStorageKey {
        let known = try StorageKeyDescriptor(address: address)
        return AnyStorageKey(
            StorageKeyDescriptor(
                name: known.name, domain: known.domain, security: security ?? known.security,
                serializer: serializer ?? known.serializer, valueType: type ?? "", owner: owner ?? "",
                description: description ?? "", availability: availability ?? .all,
                syncPolicy: sync ?? .never))
    }
}

extension AnyStorageKey {
    /// The key in a C struct.
    ///
    /// - Throws: `invalidAddress` or `unsupported` with the unusable member.
    package init(_ key: ld_migration_key) throws(StorageError) {
        guard let address = key.address.text, let serializer = key.serializer.text else {
            throw StorageError(.invalidAddress, "a key at the plugin boundary is not UTF-8")
        }
        let known = try StorageKeyDescriptor(address: address)
        var format = known.serializer
        if !serializer.isEmpty {
            guard let named = SerializerFormat(rawValue: serializer) else {
                throw StorageError(
                    .unsupported, "'\(address)': unknown serializer '\(serializer)'",
                    hint: "use one of \(SerializerFormat.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            format = named
        }
        var security = known.security
        if key.security.count > 0 {
            do { security = try JSONCoding.decode(SecurityPolicy.self, from: Data(key.security.bytes())) } catch {
                throw StorageError(
                    .unsupported, "'\(address)': the security is not a policy: \(CodingFailure(error))",
                    hint: "see ld_migration_key in the header")
            }
        }
        self.init(
            StorageKeyDescriptor(
                name: known.name, domain: known.domain, security: security, serializer: format, owner: "",
                description: ""))
    }

    /// Lends the key to the other side for the duration of `body`.
    package func withBoundary(_ body: (UnsafePointer<ld_migration_key>) -> ld_status) throws(StorageError) -> ld_status
    {
        let policy: Data
        do { policy = try JSONCoding.encode(descriptor.security) } catch {
            throw StorageError(
                .unsupported,
                "'\(descriptor.domain)/\(descriptor.name)': its security policy cannot cross the plugin boundary")
        }
        return "\(descriptor.domain)/\(descriptor.name)".withBytes { address in
            descriptor.serializer.rawValue.withBytes { serializer in
                policy.withUnsafeBytes { policy in
                    var key = ld_migration_key(
                        size: UInt32(MemoryLayout<ld_migration_key>.size), address: address, serializer: serializer,
                        security: ld_bytes(data: policy.baseAddress, count: policy.count))
                    return body(&key)
                }
            }
        }
    }
}
