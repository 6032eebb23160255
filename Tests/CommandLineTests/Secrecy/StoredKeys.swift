import FoundationEssentials
import LocalDataAPI
import TestSupport

@testable import HostPlugins
@testable import HostSealing
@testable import HostStores
@testable import LocalDataHost

/// The keys of a home with the default configuration, read without the program under test: the key file opens the ring
/// of the keychain's store, whose keys open the ring of the master keys.
struct StoredKeys {
    /// The keys of the keychain's store.
    let store: KeyRingState
    /// The keys of values with an encryption policy; `nil` if they do not exist yet.
    let master: KeyRingState?
    /// The content of the key file.
    let file: Data

    /// Reads the keys.
    ///
    /// - Throws: An error if a ring does not open.
    init(of home: Home) throws {
        let path = "\(home.path)/config/localdata/keys/sealed-files.key"
        guard let key = try KeyFile(path: path).read() else { throw TestFailure("there is no \(path)") }
        file = Data(key.bytes)
        let keychain = "\(home.path)/data/localdata/keychain"
        let ring = StorageAddress(StorageNamespace(domain: "localdata.keys"), name: "ring")
        store = try Self.ring("\(keychain)/localdata.keys/ring", at: ring, with: [EnvelopeKey(key)])
        let masterPath = "\(keychain)/keychain@%4Cocal%44ata/master"
        guard FileManager.default.fileExists(atPath: masterPath) else {
            master = nil
            return
        }
        let address = StorageAddress(StorageNamespace(domain: "keychain", scope: "LocalData"), name: "master")
        let keys = store.entries.map { EnvelopeKey($0.material, id: $0.id) }
        master = try Self.ring(masterPath, at: address, with: keys)
    }

    /// The secrets that must appear only in the key file.
    var secrets: [Data] { [file] + (store.entries + (master?.entries ?? [])).map { Data($0.material.bytes) } }

    /// Writes each secret to a file of another home.
    ///
    /// - Returns: The files' names.
    func written(to home: Home) throws -> [String] {
        try secrets.enumerated().map { index, secret in
            let name = "secret-key.\(index)"
            try secret.write(to: URL(filePath: "\(home.path)/\(name)"))
            return name
        }
    }

    private static func ring(
        _ path: String, at address: StorageAddress, with keys: [EnvelopeKey]
    ) throws -> KeyRingState {
        let sealed = try Data(contentsOf: URL(filePath: path))
        let (value, _) = try Envelope(address, crypto: crypto.get()).open(sealed) { (header) throws(StorageError) in
            // With external key material, the envelope itself shows whether it is the right one.
            guard let key = keys.first(where: { $0.id == nil || $0.id == header.keyID }) else {
                throw StorageError(.notFound, "no key \(header.keyID) for \(path)")
            }
            return key
        }
        return try value.withUnsafeBytes { try KeyRingState(decoding: $0, of: path) }
    }

    private static let crypto = Result {
        try PluginImage.load("\(BuiltProducts.folder)/libOpenSSLCrypto.so")
            .openCrypto("openssl", options: ResolvedOptions(), host: HostTable.shared(for: SilentLog()))
    }
}
