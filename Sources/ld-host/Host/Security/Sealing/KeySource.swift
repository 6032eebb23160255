internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI

/// Gets the key from where a store's configuration says it is. Everything may wait, some of it for a person.
struct KeySource: Sendable {
    let source: HostSettings.Sealing.Source
    /// The store that is sealed, for questions and errors.
    let store: String
    let crypto: LoadedCrypto
    let providers: KeyMaterialProviders
    /// A value of the keychain domain.
    let keychain: @Sendable (_ service: String, _ account: String) throws(StorageError) -> SealedValue

    /// The key, or `nil` where it has not been made yet.
    func existing() throws(StorageError) -> SecretBytes? {
        switch source {
        case .keyFile(let path): return try KeyFile(path: path).read()
        case .terminal:
            return try Self.passphrase(Terminal.secret(prompt: "passphrase of store '\(store)': "), of: source)
        case .descriptor(let number): return try Self.passphrase(Self.line(from: number), of: source)
        case .credential(let name): return try credential(name)
        case .keychain(let service, let account):
            guard var data = try keychain(service, account).get() else { return nil }
            defer { data.resetBytes(in: 0..<data.count) }
            return try data.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) }
        case .provider(let id): return try providers.materialNow(of: KeyMaterialSource(id: id), for: store)
        }
    }

    /// Makes the key where that is the host's business. Called with the ring's lock held alone.
    func make() throws(StorageError) -> SecretBytes {
        let key = try SecretBytes(count: 32) { (bytes) throws(StorageError) in try crypto.random(into: bytes) }
        switch source {
        case .keyFile(let path): try KeyFile(path: path).write(key)
        case .keychain(let service, let account):
            var data = Data(key.bytes)
            defer { data.resetBytes(in: 0..<data.count) }
            try keychain(service, account).set(data, attributes: nil)
        default: throw missing
        }
        return key
    }

    /// Why a ring that is there cannot be opened: its key is gone.
    var missing: StorageError {
        StorageError(
            .securityApplicationFailed,
            "store '\(store)' is sealed and \(source) is missing; its values cannot be opened and stay as they are",
            hint: "restore the key from a backup")
    }

    private func credential(_ name: String) throws(StorageError) -> SecretBytes {
        guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }) else {
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
        let secret = try data.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) }
        return try Self.passphrase(secret, of: source)
    }

    /// What is typed or sent ends before its line end, if it has one; nothing is no passphrase.
    private static func passphrase(
        _ secret: SecretBytes?, of source: HostSettings.Sealing.Source
    ) throws(StorageError) -> SecretBytes {
        guard let secret else {
            throw StorageError(
                .securityApplicationFailed, "there is no terminal to ask for a passphrase at",
                hint: "run it in a terminal, or set the store's sealing.from to fd:N")
        }
        let bytes = secret.bytes
        let end = bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
        guard end > 0 else {
            throw StorageError(.securityApplicationFailed, "\(source) is empty", hint: "give a passphrase")
        }
        return try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    }

    /// All that a descriptor gives, at most 64 KiB.
    private static func line(from descriptor: Int32) throws(StorageError) -> SecretBytes {
        var filled = 0
        let buffer = try SecretBytes(count: 64 << 10) { (buffer) throws(StorageError) in
            while filled < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let count = read(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else {
                    throw StorageError(
                        .securityApplicationFailed,
                        "a passphrase cannot be read from descriptor \(descriptor): "
                            + String(cString: strerror(errno)),
                        hint: "open it for the program, e.g. \(descriptor)<FILE")
                }
                if count == 0 { break }
                filled += count
            }
        }
        return try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: buffer.bytes[..<filled]))
    }
}
