internal import ByteCoding
internal import CLinux
internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Gets the key of a sealed store from its configured source. Every call may wait, some of them for a person.
package struct KeySource: Sendable {
    let source: HostSettings.Sealing.Source
    /// The sealed store, for prompts and errors.
    let store: String
    /// The folder of the locks that keep two stores from creating the same key twice.
    let folder: String
    let crypto: LoadedCrypto
    let providers: KeyMaterialProviders
    /// A value of the keychain domain.
    let keychain: @Sendable (_ service: String, _ account: String) throws(StorageError) -> KeychainValue

    /// The key, or `nil` if it does not exist yet.
    func existing() throws(StorageError) -> SecretBytes? {
        switch source {
        case .keyFile(let path): return try KeyFile(path: path).read()
        case .terminal: return try passphrase.typed()
        case .descriptor(let number): return try passphrase.trimmed(providers.secret(ofDescriptor: number))
        case .credential(let name): return try credential(name)
        case .keychain(let service, let account): return try keychain(service, account).load(.storeKey)
        case .provider(let id): return try providers.materialNow(of: KeyMaterialSource(id: id), for: store)
        }
    }

    /// The key for a new ring: the existing one, or a new one if the host manages the key. A typed passphrase must be
    /// typed twice. Called with the ring's lock held exclusively.
    func first() throws(StorageError) -> SecretBytes {
        switch source {
        case .keyFile(let path):
            return try alone("\(folder)/key-\(StableHash.text(["key file", path])).lock") { () throws(StorageError) in
                let file = KeyFile(path: path)
                if let key = try file.read() { return key }
                let key = try random()
                try file.write(key)
                return key
            }
        case .keychain(let service, let account):
            let keychain = try keychain(service, account)
            return try alone(keychain.list.keyFile(service, account)) { () throws(StorageError) in
                if let key = try keychain.load(.storeKey) { return key }
                let key = try random()
                try keychain.save(key, .storeKey)
                return key
            }
        case .terminal: return try passphrase.typedTwice()
        case .descriptor, .credential, .provider:
            guard let key = try existing() else { throw missing }
            return key
        }
    }

    /// What to do when a key is lost. A backup does not contain it.
    package static let whenLost =
        "put back a copy; for what to do without one, see the guide Operating.md, which is installed in "
        + "share/doc/localdata"

    /// The error for an existing ring whose key is missing.
    var missing: StorageError {
        StorageError(
            .securityApplicationFailed,
            "store '\(store)' is sealed and \(source) is missing; its values cannot be opened and stay as they are",
            hint: Self.whenLost)
    }

    private func random() throws(StorageError) -> SecretBytes {
        try SecretBytes(count: 32) { (bytes) throws(StorageError) in try crypto.random(into: bytes) }
    }

    /// Runs `body` while no other store looks up or creates the same key.
    private func alone(
        _ lock: String, _ body: () throws(StorageError) -> SecretBytes
    ) throws(StorageError) -> SecretBytes {
        try FileLock(lock).exclusive { (_) throws(StorageError) in try body() }
    }

    private func credential(_ name: String) throws(StorageError) -> SecretBytes {
        // A program with more rights than its caller does not take its secrets from there.
        guard let folder = secure_getenv("CREDENTIALS_DIRECTORY").flatMap({ String(validatingCString: $0) }) else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(store)' is sealed by \(source), and CREDENTIALS_DIRECTORY is not set",
                hint: "start the service with LoadCredential=\(name):PATH; see systemd.exec(5)")
        }
        guard var data = HostFile.contents(of: "\(folder)/\(name)", ownedByUser: false, limit: 1 << 20) else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(store)' is sealed by \(source), and '\(folder)/\(name)' cannot be read",
                hint: "start the service with LoadCredential=\(name):PATH; see systemd.exec(5)")
        }
        defer { data.resetBytes(in: 0..<data.count) }
        return try passphrase.trimmed(
            data.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) })
    }

    private var passphrase: Passphrase {
        Passphrase(
            subject: "store '\(store)'",
            noTerminal: StorageError(
                .securityApplicationFailed,
                "store '\(store)' is sealed by a passphrase, and there is no terminal to prompt for it",
                hint: "run it in a terminal, or set stores.\(store).sealing.from to fd:N"),
            empty: StorageError(
                .securityApplicationFailed, "store '\(store)' is sealed by \(source), which is empty",
                hint: "give a passphrase"))
    }
}
