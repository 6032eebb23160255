internal import LocalDataAPI
internal import LocalDataHost

/// The keys in the keychain under which clients keep their credentials.
enum CredentialKeys {
    /// The key of a name in a service.
    static func key(_ service: String, _ name: String, owner: String) -> AnyStorageKey {
        let domain = StorageDomain.keychain(service: service)
        return AnyStorageKey(
            StorageKeyDescriptor(
                name: name, domain: domain, security: domain.ownPolicy, serializer: .data, owner: owner,
                description: "a credential that \(owner) stored"))
    }
}
