internal import HostPlugins
internal import LocalDataAPI

/// What a provider must declare for a check to apply.
extension ConformanceRequirement {
    private static func provider(_ unmet: @escaping @Sendable (LoadedCrypto) -> String?) -> ConformanceRequirement {
        ConformanceRequirement { _, component in
            guard case .provider(let provider) = component else { return "it is not a crypto provider" }
            return unmet(provider)
        }
    }

    static let ciphers = provider { provider in
        AuthenticatedCipher.all.contains(where: provider.offers) ? nil : "the provider declares no cipher"
    }

    static func cipher(_ cipher: AuthenticatedCipher) -> ConformanceRequirement {
        provider { $0.offers(cipher) ? nil : "the provider does not declare \(cipher)" }
    }

    static let derivations = provider { provider in
        KeyDerivationFunction.allCases.contains(where: provider.offers) ? nil : "the provider declares no derivation"
    }

    /// A derivation with a work parameter.
    static let slowDerivations = provider { provider in
        KeyDerivationFunction.allCases.contains { $0.isSlow && provider.offers($0) }
            ? nil : "the provider declares no derivation for passphrases"
    }

    static func derivation(_ function: KeyDerivationFunction) -> ConformanceRequirement {
        provider { $0.offers(function) ? nil : "the provider does not declare \(function)" }
    }

    static let agreement = provider {
        let isDeclared = $0.algorithms[KeyAgreement.x25519.rawValue] != nil
        return isDeclared ? nil : "the provider does not declare \(KeyAgreement.x25519)"
    }

    static let signatures = provider {
        $0.signatures == nil ? "the provider does not offer signatures" : nil
    }

    /// The process may be copied by fork(2), because no other code runs in it.
    static let ownProcess = ConformanceRequirement { subject, _ in
        subject.peer == nil ? "fork needs a process of the kit's own: run ld-host plugins test FILE" : nil
    }
}
