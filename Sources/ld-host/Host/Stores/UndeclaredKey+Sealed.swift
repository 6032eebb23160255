internal import HostGround
internal import HostSealing
package import LocalDataAPI

extension ResolvedKey {
    /// The key of which nobody has declared more than the address, with the policy that its stored value is sealed by;
    /// `nil` if it is not sealed, or has the policy anyway. May wait.
    ///
    /// The header is not authentic: it only says what to try. A key whose value no ring here opens is refused.
    package func asStored(
        _ descriptor: StorageKeyDescriptor, _ snapshot: RouterSnapshot
    ) async throws(StorageError) -> AnyStorageKey? {
        // A value that a policy seals has no envelope in it, or one of the app's own.
        guard refusal == nil, layers.count == (open.sealing == nil ? 0 : 1) else { return nil }
        let value = try await sealedValue()
        return try await open.wait("looking at '\(address)'") { [self] () throws(StorageError) in
            let start = try value.start()
            switch start {
            case .other: return nil
            case .later(let version):
                return refused(descriptor, "is an envelope of version \(version), of a later release")
            case .header(let header):
                do throws(StorageError) {
                    if let key = try sealed(descriptor, by: header, snapshot) { return key }
                } catch {
                    // Without a ring nothing is known but that it is sealed.
                    return AnyStorageKey(descriptor, undeclared: UndeclaredKey(refusal: error))
                }
                if open.hasForgottenSealing, start.isOfStore {
                    return AnyStorageKey(
                        descriptor,
                        undeclared: UndeclaredKey(refusal: StoreSealing.forgotten(open.name, "'\(address)'"))
                    )
                }
                if let store = snapshot.sealer(of: start, at: open) {
                    return refused(descriptor, "is sealed by the store '\(store)', which keeps it in the same folder")
                }
                return refused(descriptor, "is sealed, and no key ring here has its key")
            }
        }
    }

    /// The key with the policy that a header states; `nil` if no trusted ring has the header's key. May wait.
    private func sealed(
        _ descriptor: StorageKeyDescriptor, by header: EnvelopeHeader, _ snapshot: RouterSnapshot
    ) throws(StorageError) -> AnyStorageKey? {
        let ring: KeyRing
        do throws(StorageError) { ring = try snapshot.rings.ring(named: header.ring) } catch {
            guard [.invalidAddress, .cannotOpen].contains(error.code) else { throw error }
            return nil
        }
        guard try ring.state()?[header.keyID] != nil else { return nil }
        guard let policy = header.policy else {
            return refused(descriptor, "is sealed with \(header.cipher) and \(header.derivation.function)")
        }
        // The header could keep the processor busy for long, so the limit is that of a key without a derivation.
        let limit = DerivationLimit(.hkdf(), iterations: snapshot.settings.encryption.iterations)
        guard (try? limit.check(header.derivation, at: address)) != nil else {
            return refused(descriptor, "is sealed with \(header.derivation.iterations) iterations of PBKDF2")
        }
        return AnyStorageKey(
            StorageKeyDescriptor(
                name: descriptor.name, domain: descriptor.domain, security: .encrypted(policy),
                serializer: descriptor.serializer, owner: descriptor.owner, description: descriptor.description),
            undeclared: UndeclaredKey())
    }

    private func refused(_ descriptor: StorageKeyDescriptor, _ what: String) -> AnyStorageKey {
        let error = StorageError(
            .securityApplicationFailed, "'\(address)' \(what), so it is neither read nor replaced",
            hint: "set 'catalogs' to the app's manifest, which describes the key; or see: ld-host envelope inspect "
                + "ADDRESS; to store another value, first remove this one")
        return AnyStorageKey(descriptor, undeclared: UndeclaredKey(refusal: error))
    }
}

extension EnvelopeHeader {
    /// The policy of a key whose values have such headers; `nil` if no policy has them.
    fileprivate var policy: SecurityPolicy.EncryptionPolicy? {
        let derivation: SecurityPolicy.KeyDerivation
        switch self.derivation {
        case .hkdf(let salt, let info): derivation = .hkdf(salt: salt, info: info)
        case .pbkdf2(let iterations, let salt): derivation = .pbkdf2(iterations: Int(iterations), salt: salt)
        case .argon2id: return nil
        }
        switch cipher {
        case .aes256GCM: return .aes256(keyDerivation: derivation)
        case .chaCha20Poly1305: return .chacha20Poly1305(keyDerivation: derivation)
        default: return nil
        }
    }
}
