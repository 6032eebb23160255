internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

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
