internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// The key of one record: 32 bytes, derived, cleared on deallocation.
struct RecordKey: ~Copyable {
    static let size = 32

    let id: KeyID
    private let memory: UnsafeMutableRawBufferPointer

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }

    deinit {
        clear(memory)
        memory.deallocate()
    }

    /// Derives a record's key.
    ///
    /// A slow derivation first turns the material into a key. The record's salt makes each record's key unique, so that
    /// no nonce is used twice with one key, whatever the number of records.
    init(
        _ key: EnvelopeKey, _ derivation: EnvelopeDerivation, salt: Data, for cipher: AuthenticatedCipher,
        _ crypto: LoadedCrypto
    ) throws(StorageError) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 3 * Self.size, alignment: 16)
        defer {
            clear(memory)
            memory.deallocate()
        }
        let stretched = UnsafeMutableRawBufferPointer(rebasing: memory[..<Self.size])
        let derived = UnsafeMutableRawBufferPointer(rebasing: memory[Self.size..<2 * Self.size])
        var secret = key.material.bytes
        if derivation.isSlow {
            let derivationSalt = derivation.salt ?? Data()
            try derivationSalt.withBuffer { (salt) throws(StorageError) in
                try SlowDerivations.alone { () throws(StorageError) in
                    try crypto.derive(
                        derivation.function, from: secret, salt: salt, iterations: UInt64(derivation.iterations),
                        memory: UInt64(derivation.memory ?? 0) << 10, lanes: 1, into: stretched)
                }
            }
            secret = UnsafeRawBufferPointer(stretched)
        }
        let found: KeyID
        if let known = key.id {
            found = known
        } else {
            let name = UnsafeMutableRawBufferPointer(rebasing: memory[2 * Self.size..<2 * Self.size + KeyID.size])
            try Data(Self.idInfo.utf8).withBuffer { (info) throws(StorageError) in
                try crypto.derive(
                    .hkdfSHA256, from: secret, salt: .init(start: nil, count: 0), info: info, into: name)
            }
            found = KeyID(UnsafeRawBufferPointer(name))
        }
        let info = Self.info(derivation, cipher)
        try salt.withBuffer { (salt) throws(StorageError) in
            try info.withBuffer { (info) throws(StorageError) in
                try crypto.derive(.hkdfSHA256, from: secret, salt: salt, info: info, into: derived)
            }
        }
        id = found
        self.memory = .allocate(byteCount: Self.size, alignment: 16)
        self.memory.copyMemory(from: UnsafeRawBufferPointer(derived))
    }

    /// The context of the derivation: its purpose, the cipher, since no key serves two ciphers, and the policy's own
    /// salt and info.
    private static func info(_ derivation: EnvelopeDerivation, _ cipher: AuthenticatedCipher) -> [UInt8] {
        if case .hkdf(nil, nil) = derivation {
            if cipher.id == AuthenticatedCipher.aes256GCM.id { return usualInfos.0 }
            if cipher.id == AuthenticatedCipher.chaCha20Poly1305.id { return usualInfos.1 }
        }
        return madeInfo(derivation, cipher)
    }

    private static let usualInfos = (madeInfo(.hkdf(), .aes256GCM), madeInfo(.hkdf(), .chaCha20Poly1305))

    private static func madeInfo(_ derivation: EnvelopeDerivation, _ cipher: AuthenticatedCipher) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(purpose.utf8CodeUnitCount + 1)
        bytes.append(contentsOf: UnsafeBufferPointer(start: purpose.utf8Start, count: purpose.utf8CodeUnitCount))
        bytes.append(UInt8(cipher.id))
        guard case .hkdf(let salt, let info) = derivation, salt != nil || info != nil else { return bytes }
        var writer = ByteWriter(.bigEndian, bytes)
        for part in [salt ?? Data(), info ?? Data()] {
            writer.add(UInt32(part.count))
            writer.add(part)
        }
        return writer.bytes
    }

    private static let purpose: StaticString = "LocalData envelope 1"
    private static let idInfo = "LocalData key id 1"
}
