internal import LocalDataAPI

extension SealedScan {
    /// The cost limit for deriving a value's key: the same as when its own key reads it. For a value in no catalog,
    /// that is the configuration's limit; for values that migrations keep, the highest limit of any key.
    func derivationLimit(at address: StorageAddress) -> DerivationLimit {
        guard case .master = name else { return .fastOnly }
        let iterations = snapshot.settings.encryption.iterations
        return policies(at: address).reduce(DerivationLimit(.hkdf(), iterations: iterations)) { limit, policy in
            guard case .pbkdf2(let count?, _) = policy.derivation else { return limit }
            let style = KeyDerivation.pbkdf2(iterations: UInt32(clamping: count))
            return limit.joined(with: DerivationLimit(style, iterations: iterations))
        }
    }

    private func policies(at address: StorageAddress) -> [SecurityPolicy.EncryptionPolicy] {
        let indices = [snapshot.described, snapshot.catalog].compactMap(\.self)
        let keys =
            address.place == HostSettings.ledgerNamespace
            ? indices.flatMap(\.entries.values) : indices.compactMap { $0.entries[address] }
        return keys.compactMap { if case .encrypted(let policy) = $0.descriptor.security { policy } else { nil } }
    }
}

extension SecurityPolicy.EncryptionPolicy {
    fileprivate var derivation: SecurityPolicy.KeyDerivation {
        switch self {
        case .aes256(let derivation), .chacha20Poly1305(let derivation), .external(_, let derivation): derivation
        }
    }
}
