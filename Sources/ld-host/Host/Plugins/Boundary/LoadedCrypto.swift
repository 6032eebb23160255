package import CLocalData
package import LocalDataAPI

/// An open crypto provider of some plugin: the import side of the boundary.
///
/// Every method makes exactly one call into the component, on the calling thread. Inputs and outputs do not overlap.
package final class LoadedCrypto: Sendable {
    /// The provider's own table, copied.
    package let table: ld_crypto
    /// The offered algorithms, by number.
    package let algorithms: [Int32: ld_algorithm]
    /// The table of signatures, if the provider offers any.
    package let signatures: ld_crypto_signatures?
    /// The component's id, for errors.
    package var component: String { identity.component }
    /// The component's identity.
    let identity: ComponentIdentity

    /// Takes over an open provider's table.
    ///
    /// - Throws: `pluginRefused` with the component and the invalid part of its table.
    init(table pointer: UnsafeRawPointer?, _ identity: ComponentIdentity) throws(StorageError) {
        let component = identity.component
        func refused(_ what: String) -> StorageError {
            StorageError(
                .pluginRefused, "component '\(component)' opened a crypto provider \(what)",
                hint: "build the plugin against the header of ABI major \(LD_ABI_MAJOR)")
        }
        var table = ld_crypto()
        guard BoundaryStruct.copy(pointer, into: &table, least: ld_crypto_least_size) else {
            throw refused(
                "whose table has \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_crypto_least_size))")
        }
        let functions: [(String, Bool)] = [
            ("seal", table.seal != nil), ("open", table.open != nil), ("derive", table.derive != nil),
            ("random", table.random != nil),
        ]
        if let missing = functions.first(where: { !$0.1 }) { throw refused("without the function '\(missing.0)'") }
        guard (1...64).contains(table.algorithm_count) else {
            throw refused("that lists \(UInt(bitPattern: table.algorithm_count)) algorithms; expected 1 to 64")
        }
        guard let list = table.algorithms else { throw refused("without its list of algorithms") }
        var algorithms: [Int32: ld_algorithm] = [:]
        for index in 0..<table.algorithm_count {
            var algorithm = ld_algorithm()
            guard BoundaryStruct.copy(list[index], into: &algorithm, least: ld_algorithm_least_size) else {
                throw refused(
                    "whose algorithm \(index + 1) has a struct of \(BoundaryStruct.size(list[index])) bytes; "
                        + "expected \(BoundaryStruct.sizes(least: ld_algorithm_least_size))")
            }
            guard algorithms.updateValue(algorithm, forKey: algorithm.id) == nil else {
                throw refused("that lists algorithm number \(algorithm.id) twice")
            }
            // A provider with other sizes for a known algorithm would produce values that no other provider can open.
            if let cipher = AuthenticatedCipher(id: algorithm.id) {
                let found = [algorithm.key_size, algorithm.nonce_size, algorithm.tag_size].map(Int.init)
                let expected = [cipher.keySize, cipher.nonceSize, cipher.tagSize]
                guard found == expected else {
                    throw refused("whose \(cipher) has key, nonce and tag of \(found) bytes; expected \(expected)")
                }
            }
            if KeyAgreement(rawValue: algorithm.id) != nil {
                guard table.public_key != nil, table.agree != nil else {
                    throw refused("that lists a key agreement but lacks its functions")
                }
            }
        }
        func find<Table>(_ id: String, _ empty: Table, _ least: Int, isComplete: (Table) -> Bool) -> Table? {
            let pointer = identity.site("extension").plain { id.withBytes { table.extension?(table.`self`, $0) } }
            var found = empty
            return BoundaryStruct.copy(pointer, into: &found, least: least) && isComplete(found) ? found : nil
        }
        signatures = find(LD_CRYPTO_SIGNATURES, ld_crypto_signatures(), ld_crypto_signatures_least_size) {
            $0.public_key != nil && $0.sign != nil && $0.verify != nil
        }
        self.table = table
        self.algorithms = algorithms
        self.identity = identity
    }

    /// Whether the provider offers a cipher.
    package func offers(_ cipher: AuthenticatedCipher) -> Bool { algorithms[cipher.id] != nil }

    /// Whether the provider offers a derivation.
    package func offers(_ function: KeyDerivationFunction) -> Bool { algorithms[function.rawValue] != nil }

    /// Throws `unsupported` with the algorithm unless the provider offers it.
    package func require(_ id: Int32, _ name: @autoclosure () -> String) throws(StorageError) {
        guard algorithms[id] == nil else { return }
        throw StorageError(
            .unsupported, "the crypto provider '\(component)' does not offer \(name())",
            hint: "choose one that does with: ld-host config set encryption.provider ID; see: ld-host plugins list")
    }

    /// Encrypts and authenticates. `ciphertext` is as long as `plaintext`, `tag` as the cipher's tags.
    @inline(__always)
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, with cipher: AuthenticatedCipher, key: UnsafeRawBufferPointer,
        nonce: UnsafeRawBufferPointer, authenticating data: UnsafeRawBufferPointer,
        ciphertext: UnsafeMutableRawBufferPointer, tag: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        precondition(ciphertext.count == plaintext.count && tag.count == cipher.tagSize)
        try call("seal") {
            table.seal(
                table.`self`, cipher.id, ld_bytes(key), ld_bytes(nonce), ld_bytes(data), ld_bytes(plaintext),
                ciphertext.baseAddress, tag.baseAddress, $0)
        }
    }

    /// Checks the tag, then decrypts. `plaintext` is as long as `ciphertext`.
    ///
    /// - Throws: `cannotOpen` if the tag is wrong; then `plaintext` holds only zeros.
    @inline(__always)
    package func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, with cipher: AuthenticatedCipher,
        key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, authenticating data: UnsafeRawBufferPointer,
        plaintext: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        precondition(plaintext.count == ciphertext.count)
        try call("open") {
            table.open(
                table.`self`, cipher.id, ld_bytes(key), ld_bytes(nonce), ld_bytes(data), ld_bytes(ciphertext),
                ld_bytes(tag), plaintext.baseAddress, $0)
        }
    }

    /// Derives a key that fills `key`. Parameters that the function does not use are empty or 0.
    package func derive(
        _ function: KeyDerivationFunction, from secret: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer,
        info: UnsafeRawBufferPointer = .init(start: nil, count: 0), iterations: UInt64 = 0, memory: UInt64 = 0,
        lanes: UInt32 = 0, into key: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        try require(function.rawValue, "\(function)")
        var parameters = ld_derivation(
            size: UInt32(MemoryLayout<ld_derivation>.size), lanes: lanes, secret: ld_bytes(secret),
            salt: ld_bytes(salt), info: ld_bytes(info), iterations: iterations, memory: memory)
        try call("derive") {
            table.derive(table.`self`, function.rawValue, &parameters, key.baseAddress, key.count, $0)
        }
    }

    /// Fills `bytes` from a cryptographically secure generator.
    package func random(into bytes: UnsafeMutableRawBufferPointer) throws(StorageError) {
        try call("random") {
            table.random(table.`self`, bytes.baseAddress, bytes.count, $0)
        }
    }

    /// Writes the 32 bytes of the public key of a private key.
    package func publicKey(
        of privateKey: UnsafeRawBufferPointer, for agreement: KeyAgreement,
        into publicKey: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        try require(agreement.rawValue, "\(agreement)")
        precondition(publicKey.count == 32)
        try call("public_key") {
            table.public_key?(
                table.`self`, agreement.rawValue, ld_bytes(privateKey), publicKey.baseAddress, $0) ?? LD_FAILED
        }
    }

    /// Writes the 32 bytes of the shared secret.
    package func sharedSecret(
        of privateKey: UnsafeRawBufferPointer, with publicKey: UnsafeRawBufferPointer, by agreement: KeyAgreement,
        into secret: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        try require(agreement.rawValue, "\(agreement)")
        precondition(secret.count == 32)
        try call("agree") {
            table.agree?(
                table.`self`, agreement.rawValue, ld_bytes(privateKey), ld_bytes(publicKey), secret.baseAddress,
                $0) ?? LD_FAILED
        }
    }

    /// Closes the provider. Only for callers that know that no call is in flight.
    package func close() { identity.site("close").plain { table.close?(table.`self`) } }

    /// Makes a call; only `LD_OK` means that the output is valid.
    @inline(__always)
    func call(
        _ function: StaticString, _ body: (UnsafePointer<ld_error_sink>) -> Int32
    ) throws(StorageError) { _ = try identity.site(function).call(.computed, body) }
}

extension ld_bytes {
    /// Lends a buffer.
    @inline(__always)
    package init(_ buffer: UnsafeRawBufferPointer) { self.init(data: buffer.baseAddress, count: buffer.count) }
}

extension LoadedCrypto {
    /// Whether the provider offers a signature algorithm.
    package func offers(_ algorithm: SignatureAlgorithm) -> Bool {
        signatures != nil && algorithms[algorithm.rawValue] != nil
    }

    /// Writes the 32 bytes of the public key of a private key.
    ///
    /// - Throws: `unsupported` if the provider does not offer the algorithm, or the key has another size.
    package func publicKey(
        ofSigningKey privateKey: UnsafeRawBufferPointer, for algorithm: SignatureAlgorithm,
        into publicKey: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        precondition(publicKey.count == 32)
        let signatures = try signatures(for: algorithm)
        try call("signing public_key") {
            signatures.public_key(
                table.`self`, algorithm.rawValue, ld_bytes(privateKey), publicKey.baseAddress, $0)
        }
    }

    /// Writes the 64 bytes of the signature of a message, which may be empty.
    package func sign(
        _ message: UnsafeRawBufferPointer, with privateKey: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm,
        into signature: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        precondition(signature.count == 64)
        let signatures = try signatures(for: algorithm)
        try call("sign") {
            signatures.sign(
                table.`self`, algorithm.rawValue, ld_bytes(privateKey), ld_bytes(message), signature.baseAddress, $0)
        }
    }

    /// Checks a signature.
    ///
    /// - Throws: `cannotOpen` if it is wrong.
    package func verify(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer,
        with publicKey: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm
    ) throws(StorageError) {
        let signatures = try signatures(for: algorithm)
        try call("verify") {
            signatures.verify(
                table.`self`, algorithm.rawValue, ld_bytes(publicKey), ld_bytes(message), ld_bytes(signature), $0)
        }
    }

    private func signatures(for algorithm: SignatureAlgorithm) throws(StorageError) -> ld_crypto_signatures {
        try require(algorithm.rawValue, "\(algorithm)")
        guard let signatures else {
            throw StorageError(
                .unsupported, "the crypto provider '\(component)' lists \(algorithm) but lacks its functions",
                hint: "choose another one with: ld-host config set encryption.provider ID; see: ld-host plugins test")
        }
        return signatures
    }
}
