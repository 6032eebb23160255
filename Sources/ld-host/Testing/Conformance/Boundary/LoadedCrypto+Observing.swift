internal import CLocalData
internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI

/// The provider's functions as a C caller uses them, without checks or corrections by the host.
extension LoadedCrypto {
    func observeSeal(
        _ id: Int32, _ text: Data, _ use: CipherUse, ciphertext: GuardedOutput, tag: GuardedOutput
    ) -> Observation {
        LentBytes.lend(use.key, use.nonce, use.data, text) { lent in
            Observation {
                table.seal(
                    table.`self`, id, lent[0], lent[1], lent[2], lent[3], ciphertext.pointer, tag.pointer, $1)
            }
        }
    }

    func observeOpen(_ id: Int32, _ sealed: Sealed, _ use: CipherUse, plaintext: GuardedOutput) -> Observation {
        LentBytes.lend(use.key, use.nonce, use.data, sealed.ciphertext, sealed.tag) { lent in
            Observation {
                table.open(
                    table.`self`, id, lent[0], lent[1], lent[2], lent[3], lent[4], plaintext.pointer, $1)
            }
        }
    }

    func observeDerive(
        _ derivation: Derivation, id: Int32? = nil, count: Int, into key: GuardedOutput
    ) -> Observation {
        LentBytes.lend(derivation.secret, derivation.salt, derivation.info) { lent in
            var parameters = ld_derivation(
                size: UInt32(MemoryLayout<ld_derivation>.size), lanes: derivation.lanes, secret: lent[0], salt: lent[1],
                info: lent[2], iterations: derivation.iterations, memory: derivation.memory)
            return Observation {
                table.derive(
                    table.`self`, id ?? derivation.function.rawValue, &parameters, key.pointer, count, $1)
            }
        }
    }

    func observeRandom(_ count: Int, into bytes: GuardedOutput) -> Observation {
        Observation { table.random(table.`self`, bytes.pointer, count, $1) }
    }

    /// A provider without key agreements may lack the function, which counts as a refusal.
    func observePublicKey(
        _ privateKey: Data, id: Int32 = KeyAgreement.x25519.rawValue, into publicKey: GuardedOutput
    ) -> Observation? {
        guard let function = table.public_key else { return nil }
        return LentBytes.lend(privateKey) { lent in
            Observation { function(table.`self`, id, lent[0], publicKey.pointer, $1) }
        }
    }

    func observeAgree(
        _ privateKey: Data, _ publicKey: Data, id: Int32 = KeyAgreement.x25519.rawValue, into shared: GuardedOutput
    ) -> Observation? {
        guard let function = table.agree else { return nil }
        return LentBytes.lend(privateKey, publicKey) { lent in
            Observation { function(table.`self`, id, lent[0], lent[1], shared.pointer, $1) }
        }
    }

    /// `nil` if the provider has no signatures.
    func observeSigningPublicKey(
        _ privateKey: Data, id: Int32 = SignatureAlgorithm.ed25519.rawValue, into publicKey: GuardedOutput
    ) -> Observation? {
        guard let function = signatures?.public_key else { return nil }
        return LentBytes.lend(privateKey) { lent in
            Observation { function(table.`self`, id, lent[0], publicKey.pointer, $1) }
        }
    }

    func observeSign(
        _ message: Data, _ privateKey: Data, id: Int32 = SignatureAlgorithm.ed25519.rawValue,
        into signature: GuardedOutput
    ) -> Observation? {
        guard let function = signatures?.sign else { return nil }
        return LentBytes.lend(privateKey, message) { lent in
            Observation { function(table.`self`, id, lent[0], lent[1], signature.pointer, $1) }
        }
    }

    func observeVerify(
        _ signature: Data, _ message: Data, _ publicKey: Data, id: Int32 = SignatureAlgorithm.ed25519.rawValue
    ) -> Observation? {
        guard let function = signatures?.verify else { return nil }
        return LentBytes.lend(publicKey, message, signature) { lent in
            Observation { function(table.`self`, id, lent[0], lent[1], lent[2], $1) }
        }
    }

    /// The ability's table as the provider returns it.
    func ability(_ id: String) -> UnsafeRawPointer? { id.withBytes { table.extension?(table.`self`, $0) } }
}

extension LoadedCrypto {
    /// Random bytes that a fork(2) of this process draws. The fork ends by itself if it hangs.
    func drawInCopy(_ size: Int) throws -> Data {
        let shared = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let shared, shared != MAP_FAILED else { throw ConformanceFailure("memory cannot be shared with a fork") }
        defer { munmap(shared, size) }
        let process = fork()
        guard process >= 0 else { throw ConformanceFailure("the process cannot be forked") }
        if process == 0 {
            alarm(10)
            _exit(table.random(table.`self`, shared, size, nil) == LD_OK ? 0 : 1)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        try expect(status == 0, "a fork of the process could not draw random bytes (status \(status))")
        return Data(bytes: shared, count: size)
    }
}
