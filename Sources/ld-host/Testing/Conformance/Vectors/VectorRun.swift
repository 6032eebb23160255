internal import FoundationEssentials
package import HostPlugins
package import LocalDataAPI

/// Runs vectors through a provider's C functions.
///
/// Algorithms and sizes of keys and tags that the provider does not declare are skipped. Nonces of other sizes are not:
/// a provider must refuse them, whatever the vector says of the cipher in general.
package struct VectorRun: Sendable {
    let crypto: LoadedCrypto

    package init(_ crypto: LoadedCrypto) { self.crypto = crypto }

    /// Runs every vector of a file.
    ///
    /// - Throws: `deserializationFailed` with the position if a vector lacks a member of its type.
    package func run(_ file: VectorFile) throws(StorageError) -> VectorReport {
        var report = VectorReport(file: file.name)
        for group in file.groups {
            for vector in group.vectors { report.take(try outcome(of: vector, in: group, of: file), of: vector) }
        }
        return report
    }

    private func outcome(
        of vector: VectorFile.Vector, in group: VectorFile.Group, of file: VectorFile
    ) throws(StorageError) -> VectorOutcome {
        switch group.type {
        case "AeadTest": try cipher(vector, in: group, of: file.algorithm)
        case "HkdfTest": try extraction(vector, of: file.algorithm)
        case "PbkdfTest": try password(vector, of: file.algorithm)
        case "XdhComp": try agreement(vector, in: group)
        case "EddsaVerify": try signature(vector, in: group)
        default: .skipped("a group of the type \(group.type)")
        }
    }
}

extension VectorRun {
    /// A vector of `XdhComp`, whose keys are plain bytes.
    func agreement(
        _ vector: VectorFile.Vector, in group: VectorFile.Group
    ) throws(StorageError) -> VectorOutcome {
        let curve = try group.fields.text("curve")
        guard curve == "curve25519" else { return .skipped("the curve \(curve)") }
        let (privateKey, publicKey) = (try vector.fields.bytes("private"), try vector.fields.bytes("public"))
        let expected = try vector.fields.bytes("shared")
        guard crypto.algorithms[KeyAgreement.x25519.rawValue] != nil else {
            return .skipped("\(KeyAgreement.x25519), which the provider does not declare")
        }
        return .judging(vector.expectation, against: expected, named: "the shared secret") { () throws(StorageError) in
            try crypto.sharedSecret(of: privateKey, with: publicKey, by: .x25519)
        }
    }
}

extension VectorRun {
    /// A vector of `EddsaVerify`; only Ed25519 is known.
    func signature(
        _ vector: VectorFile.Vector, in group: VectorFile.Group
    ) throws(StorageError) -> VectorOutcome {
        let key = try group.fields.object(named: ["publicKey", "key"])
        let curve = try key.text("curve")
        guard curve == "edwards25519" else { return .skipped("the curve \(curve)") }
        let publicKey = try key.bytes("pk")
        let (message, signature) = (try vector.fields.bytes("msg"), try vector.fields.bytes("sig"))
        guard crypto.offers(.ed25519) else {
            return .skipped("\(SignatureAlgorithm.ed25519), which the provider does not declare")
        }
        do throws(StorageError) {
            try crypto.verify(signature, of: message, with: publicKey, by: .ed25519)
            return vector.expectation == .invalid ? .failed("accepted, though the vector is invalid") : .passed
        } catch {
            return vector.expectation == .valid ? .failed("refused: \(error.message)") : .passed
        }
    }
}

extension VectorRun {
    /// A vector of `AeadTest`: valid ones are sealed and opened, invalid ones must not open.
    func cipher(
        _ vector: VectorFile.Vector, in group: VectorFile.Group, of algorithm: String
    ) throws(StorageError) -> VectorOutcome {
        guard let cipher = Self.ciphers[algorithm] else { return .skipped("the algorithm \(algorithm)") }
        let fields = vector.fields
        let call = Call(
            crypto: crypto, cipher: cipher, key: try fields.bytes("key"), nonce: try fields.bytes("iv"),
            data: try fields.bytes("aad"), message: try fields.bytes("msg"), ciphertext: try fields.bytes("ct"),
            tag: try fields.bytes("tag"))
        let sizes = [
            ("keys", "keySize", call.key.count, cipher.keySize),
            ("tags", "tagSize", call.tag.count, cipher.tagSize),
        ]
        for (what, name, count, expected) in sizes {
            // A vector's sizes may differ from its group's; then the provider has to refuse it.
            let bits = try group.fields.optionalCount(name) ?? 8 * count
            if bits != 8 * expected { return .skipped("\(algorithm) with \(what) of \(bits) bits") }
        }
        guard crypto.offers(cipher) else { return .skipped("\(cipher), which the provider does not declare") }
        let nonceBits = try group.fields.optionalCount("ivSize") ?? 8 * call.nonce.count
        return nonceBits == 8 * cipher.nonceSize ? call.outcome(vector.expectation) : call.refusal()
    }

    private static let ciphers: [String: AuthenticatedCipher] = [
        "AES-GCM": .aes256GCM, "CHACHA20-POLY1305": .chaCha20Poly1305, "XCHACHA20-POLY1305": .xChaCha20Poly1305,
    ]

    private struct Call {
        let crypto: LoadedCrypto
        let cipher: AuthenticatedCipher
        let key: Data
        let nonce: Data
        let data: Data
        let message: Data
        let ciphertext: Data
        let tag: Data

        func outcome(_ expectation: VectorFile.Expectation) -> VectorOutcome {
            var opened = Data()
            do throws(StorageError) {
                try crypto.open(
                    ciphertext, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data, into: &opened)
            } catch {
                if expectation == .valid { return .failed("does not open: \(error.message)") }
                if error.code == .cannotOpen, opened.contains(where: { $0 != 0 }) {
                    return .failed("a refused call left bytes other than zeros in the output")
                }
                return expectation == .invalid ? .passed : seal(mayRefuse: true)
            }
            if expectation == .invalid { return .failed("opens, though the vector is invalid") }
            guard opened == message else { return .failed("opens to a different message") }
            return seal(mayRefuse: expectation == .acceptable)
        }

        /// The outcome of a vector whose nonce does not have the cipher's size: sealing and opening must be refused.
        func refusal() -> VectorOutcome {
            var opened = Data()
            do throws(StorageError) {
                try crypto.open(
                    ciphertext, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data, into: &opened)
                return .failed("opens with a nonce of \(nonce.count) bytes; \(cipher) takes \(cipher.nonceSize)")
            } catch {}
            do throws(StorageError) {
                _ = try crypto.seal(message, with: cipher, key: key, nonce: nonce, authenticating: data)
                return .failed("seals with a nonce of \(nonce.count) bytes; \(cipher) takes \(cipher.nonceSize)")
            } catch { return .passed }
        }

        private func seal(mayRefuse: Bool) -> VectorOutcome {
            do throws(StorageError) {
                let sealed = try crypto.seal(message, with: cipher, key: key, nonce: nonce, authenticating: data)
                guard sealed.ciphertext == ciphertext else { return .failed("seals to a different ciphertext") }
                return sealed.tag == tag ? .passed : .failed("seals with a different tag")
            } catch {
                return mayRefuse ? .passed : .failed("does not seal: \(error.message)")
            }
        }
    }
}

extension VectorRun {
    /// Vectors with more output bytes or iterations than this take too long for a test.
    private static let largestOutput = 1 << 24
    private static let mostIterations = 10_000_000

    /// A vector of `HkdfTest`.
    func extraction(_ vector: VectorFile.Vector, of algorithm: String) throws(StorageError) -> VectorOutcome {
        guard let function = Self.extractions[algorithm] else { return .skipped("the algorithm \(algorithm)") }
        let (secret, salt) = (try vector.fields.bytes("ikm"), try vector.fields.bytes("salt"))
        let (info, count) = (try vector.fields.bytes("info"), try vector.fields.count("size"))
        let expected = try vector.fields.bytes("okm")
        if let reason = skipping(function, count: count) { return .skipped(reason) }
        return .judging(vector.expectation, against: expected, named: "the output") { () throws(StorageError) in
            try crypto.derive(function, from: secret, salt: salt, info: info, count: count)
        }
    }

    /// A vector of `PbkdfTest`.
    func password(_ vector: VectorFile.Vector, of algorithm: String) throws(StorageError) -> VectorOutcome {
        guard let function = Self.passwords[algorithm] else { return .skipped("the algorithm \(algorithm)") }
        let (password, salt) = (try vector.fields.bytes("password"), try vector.fields.bytes("salt"))
        let (count, iterations) = (try vector.fields.count("dkLen"), try vector.fields.count("iterationCount"))
        let expected = try vector.fields.bytes("dk")
        if let reason = skipping(function, count: count) { return .skipped(reason) }
        guard iterations <= Self.mostIterations else { return .skipped("more than \(Self.mostIterations) iterations") }
        return .judging(vector.expectation, against: expected, named: "the output") { () throws(StorageError) in
            try crypto.derive(
                function, from: password, salt: salt, iterations: UInt64(iterations), count: count)
        }
    }

    private static let extractions: [String: KeyDerivationFunction] = [
        "HKDF-SHA-256": .hkdfSHA256, "HKDF-SHA-512": .hkdfSHA512,
    ]
    private static let passwords: [String: KeyDerivationFunction] = [
        "PBKDF2-HMACSHA256": .pbkdf2HMACSHA256, "PBKDF2-HMACSHA512": .pbkdf2HMACSHA512,
    ]

    private func skipping(_ function: KeyDerivationFunction, count: Int) -> String? {
        guard crypto.offers(function) else { return "\(function), which the provider does not declare" }
        return count <= Self.largestOutput ? nil : "outputs of more than \(Self.largestOutput) bytes"
    }
}
