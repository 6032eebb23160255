internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ProviderUnderTest {
    /// Makes a call with or without a sink for errors.
    typealias Call = (_ reports: Bool) -> Observation

    /// Valid and invalid calls of every function.
    func calls() -> [(String, Call)] {
        cipherCalls() + derivationCalls() + agreementCalls() + signatureCalls()
            + [("random", { self.call($0) { self.crypto.table.random(self.crypto.table.`self`, $0, 32, $1) } })]
    }

    /// Makes a call with room for 200 bytes of output.
    private func call(
        _ reports: Bool, _ body: (UnsafeMutableRawPointer?, UnsafePointer<ld_error_sink>?) -> Int32
    ) -> Observation {
        let output = GuardedOutput(200)
        return withExtendedLifetime(output) { Observation { body(output.pointer, reports ? $1 : nil) } }
    }

    private func cipherCalls() -> [(String, Call)] {
        let table = crypto.table
        return ciphers.flatMap { cipher -> [(String, Call)] in
            let use = CipherUse(cipher, seed: 1)
            let text = Pattern.data(1, 50)
            let sealed = (try? seal(text, cipher, use)) ?? Sealed(ciphertext: text, tag: Data(count: cipher.tagSize))
            func sealing(_ name: String, _ id: Int32, key: Data) -> (String, Call) {
                (
                    "\(cipher): seal \(name)",
                    { reports in
                        LentBytes.lend(key, use.nonce, use.data, text) { lent in
                            self.call(reports) {
                                table.seal(
                                    table.`self`, id, lent[0], lent[1], lent[2], lent[3], $0, $0.map { $0 + 100 }, $1)
                            }
                        }
                    }
                )
            }
            func opening(_ name: String, tag: Data) -> (String, Call) {
                (
                    "\(cipher): open \(name)",
                    { reports in
                        LentBytes.lend(use.key, use.nonce, use.data, sealed.ciphertext, tag) { lent in
                            self.call(reports) {
                                table.open(
                                    table.`self`, cipher.id, lent[0], lent[1], lent[2], lent[3], lent[4], $0, $1)
                            }
                        }
                    }
                )
            }
            return [
                sealing("", cipher.id, key: use.key), sealing("with a short key", cipher.id, key: Data(count: 9)),
                sealing("with an unknown algorithm", 1000, key: use.key), opening("", tag: sealed.tag),
                opening("with a wrong tag", tag: sealed.tag.flipping(bit: 9)),
                opening("with a short tag", tag: sealed.tag.prefix(8)),
            ]
        }
    }

    private func derivationCalls() -> [(String, Call)] {
        let table = crypto.table
        return derivations.flatMap { function -> [(String, Call)] in
            func deriving(_ name: String, _ count: Int) -> (String, Call) {
                let derivation = Derivation(function)
                return (
                    "\(function): derive \(name)",
                    { reports in
                        LentBytes.lend(derivation.secret, derivation.salt, derivation.info) { lent in
                            var parameters = ld_derivation(
                                size: UInt32(MemoryLayout<ld_derivation>.size), lanes: derivation.lanes,
                                secret: lent[0], salt: lent[1], info: lent[2], iterations: derivation.iterations,
                                memory: derivation.memory)
                            return self.call(reports) {
                                table.derive(table.`self`, function.rawValue, &parameters, $0, count, $1)
                            }
                        }
                    }
                )
            }
            return [deriving("", 32), deriving("of no bytes", 0)]
        }
    }

    private func agreementCalls() -> [(String, Call)] {
        guard agrees, let agree = crypto.table.agree, let publicKey = crypto.table.public_key else { return [] }
        let (own, id) = (crypto.table.`self`, KeyAgreement.x25519.rawValue)
        func agreeing(_ name: String, _ other: Data) -> (String, Call) {
            (
                "agree \(name)",
                { reports in
                    LentBytes.lend(Pattern.data(1, 32), other) { lent in
                        self.call(reports) { agree(own, id, lent[0], lent[1], $0, $1) }
                    }
                }
            )
        }
        func deriving(_ name: String, _ size: Int) -> (String, Call) {
            (
                "public_key \(name)",
                { reports in
                    LentBytes.lend(Pattern.data(1, size)) { lent in
                        self.call(reports) { publicKey(own, id, lent[0], $0, $1) }
                    }
                }
            )
        }
        return [
            agreeing("", AgreementVector.basePoint), agreeing("with zeros", Data(count: 32)),
            agreeing("with a short key", Data(count: 31)), deriving("", 32), deriving("of a short key", 31),
        ]
    }

    private func signatureCalls() -> [(String, Call)] {
        guard signs, let table = crypto.signatures else { return [] }
        let (own, id) = (crypto.table.`self`, SignatureAlgorithm.ed25519.rawValue)
        let vector = SignatureVector.standard[2]
        func signing(_ name: String, _ key: Data) -> (String, Call) {
            (
                "sign \(name)",
                { reports in
                    LentBytes.lend(key, vector.message) { lent in
                        self.call(reports) { table.sign(own, id, lent[0], lent[1], $0, $1) }
                    }
                }
            )
        }
        func deriving(_ name: String, _ key: Data) -> (String, Call) {
            (
                "the signing public_key \(name)",
                { reports in
                    LentBytes.lend(key) { lent in self.call(reports) { table.public_key(own, id, lent[0], $0, $1) } }
                }
            )
        }
        func verifying(_ name: String, _ signature: Data) -> (String, Call) {
            (
                "verify \(name)",
                { reports in
                    LentBytes.lend(vector.publicKey, vector.message, signature) { lent in
                        self.call(reports) { table.verify(own, id, lent[0], lent[1], lent[2], $1) }
                    }
                }
            )
        }
        return [
            signing("", vector.privateKey), signing("with a short key", vector.privateKey.dropLast()),
            deriving("", vector.privateKey), deriving("of a short key", vector.privateKey.dropLast()),
            verifying("", vector.signature), verifying("of a wrong signature", vector.signature.flipping(bit: 3)),
            verifying("of a short signature", vector.signature.dropLast()),
        ]
    }

    /// Seals an empty text with empty data, both at an unreadable address, and returns the tag; opens it in the same
    /// way.
    func sealNothing(_ cipher: AuthenticatedCipher, _ use: CipherUse, at address: UInt) throws -> Data {
        let (table, nothing) = (crypto.table, ld_bytes.nothing(at: address))
        let (tag, nowhere) = (GuardedOutput(cipher.tagSize), UnsafeMutableRawPointer(bitPattern: address))
        try LentBytes.lend(use.key, use.nonce) { lent in
            Observation {
                table.seal(
                    table.`self`, cipher.id, lent[0], lent[1], nothing, nothing, nowhere, tag.pointer, $1)
            }
        }.succeeded("\(cipher): seal of empty inputs at the address \(address)")
        try LentBytes.lend(use.key, use.nonce, tag.data) { lent in
            Observation {
                table.open(
                    table.`self`, cipher.id, lent[0], lent[1], nothing, nothing, lent[2], nowhere, $1)
            }
        }.succeeded("\(cipher): open of empty inputs at the address \(address)")
        return tag.data
    }

    /// Draws zero random bytes into zero memory.
    func drawNothing() throws {
        try Observation { crypto.table.random(crypto.table.`self`, nil, 0, $1) }.succeeded(
            "no random bytes into no memory")
    }

    /// Derives 32 bytes with an empty salt and an empty info at an unreadable address.
    func deriveFromNothing(_ derivation: Derivation, at address: UInt) throws -> Data {
        let (table, nothing, key) = (crypto.table, ld_bytes.nothing(at: address), GuardedOutput(32))
        try LentBytes.lend(derivation.secret) { lent in
            var parameters = ld_derivation(
                size: UInt32(MemoryLayout<ld_derivation>.size), lanes: 0, secret: lent[0], salt: nothing, info: nothing,
                iterations: 0, memory: 0)
            return Observation {
                table.derive(table.`self`, derivation.function.rawValue, &parameters, key.pointer, 32, $1)
            }
        }.succeeded("\(derivation.function) with an empty salt at the address \(address)")
        return key.data
    }
}
