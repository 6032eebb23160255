internal import LocalDataAPI

extension SealedScan {
    /// What the derivation of a value's key may cost: as much as when its own key reads it. Of a value that no catalog
    /// has, that is what the configuration allows; of what migrations keep of values, the most that any key may cost.
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
