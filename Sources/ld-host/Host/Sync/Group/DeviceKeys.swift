package import FoundationEssentials
package import HostGround
package import LocalDataAPI

/// The private keys of a device in a sync group, which never leave it.
///
/// Encoded, for the keychain: version 1, 1 byte | Ed25519 private key, 32 bytes | X25519 private key, 32 bytes.
package struct DeviceKeys: Sendable {
    private static let version: UInt8 = 1

    /// Ed25519, with which the device signs.
    let signing: SecretBytes
    /// X25519, with which the device receives keys of epochs.
    let agreement: SecretBytes
    /// The Ed25519 public key.
    package let signingPublicKey: Data
    /// The X25519 public key.
    package let agreementPublicKey: Data
    /// The device's id, which ``signingPublicKey`` determines.
    package let id: DeviceID

    /// Creates new keys.
    package init(creatingWith crypto: GroupCrypto) throws(StorageError) {
        try self.init(signing: try crypto.randomKey(), agreement: try crypto.randomKey(), crypto)
    }

    /// Decodes keys.
    ///
    /// - Throws: `corrupt` if they are none of this version.
    package init(decoding bytes: SecretBytes, _ crypto: GroupCrypto) throws(StorageError) {
        var reader = SecretReader(bytes)
        guard bytes.count == 1 + 2 * GroupCrypto.size, try reader.byte() == Self.version else {
            throw StorageError(
                .corrupt, "the keys of this device, \(bytes.count) bytes, are damaged or of a later version",
                hint: "restore them from a backup of the keychain, or join the group again with new ones")
        }
        try self.init(
            signing: try reader.secret(GroupCrypto.size), agreement: try reader.secret(GroupCrypto.size), crypto)
    }

    private init(
        signing: SecretBytes, agreement: SecretBytes, _ crypto: GroupCrypto
    ) throws(StorageError) {
        self.signing = signing
        self.agreement = agreement
        signingPublicKey = try crypto.signingPublicKey(of: signing)
        agreementPublicKey = try crypto.agreementPublicKey(of: agreement)
        id = try DeviceID(ofSigningKey: signingPublicKey, crypto)
    }

    /// The encoded keys.
    package func encoded() throws(StorageError) -> SecretBytes {
        try SecretWriter.secret(of: [.bytes([Self.version]), .secret(signing), .secret(agreement)])
    }
}

/// Joins secrets to one, without other copies.
package enum SecretWriter {
    /// A part of a secret.
    package enum Part {
        /// Bytes that are no secret.
        case bytes([UInt8])
        case secret(SecretBytes)

        var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .secret(let secret): secret.count
            }
        }
    }

    package static func secret(of parts: [Part]) throws(StorageError) -> SecretBytes {
        try SecretBytes(count: parts.reduce(0) { $0 + $1.count }) { (memory) throws(StorageError) in
            var rest = memory[...]
            for part in parts {
                let target = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(part.count))
                switch part {
                case .bytes(let bytes): target.copyBytes(from: bytes)
                case .secret(let secret): secret.withBytes { MemorySecrecy.copy($0, to: target) }
                }
                rest = rest.dropFirst(part.count)
            }
        }
    }
}

/// Takes a secret apart. Reading beyond its end throws `corrupt`.
package struct SecretReader {
    private let secret: SecretBytes
    private var offset = 0

    package init(_ secret: SecretBytes) { self.secret = secret }

    var isAtEnd: Bool { offset == secret.count }

    package mutating func byte() throws(StorageError) -> UInt8 { try bytes(1)[0] }

    /// The next bytes, which are no secret.
    mutating func bytes(_ count: Int) throws(StorageError) -> [UInt8] {
        let range = try next(count)
        return secret.withBytes { Array($0[range]) }
    }

    /// A copy of the next bytes.
    package mutating func secret(_ count: Int) throws(StorageError) -> SecretBytes {
        let range = try next(count)
        return try secret.withBytes { (bytes) throws(StorageError) in
            try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    private mutating func next(_ count: Int) throws(StorageError) -> Range<Int> {
        guard count <= secret.count - offset else {
            throw StorageError(.corrupt, "the keys end after \(secret.count) bytes; expected more")
        }
        defer { offset += count }
        return offset..<offset + count
    }
}
