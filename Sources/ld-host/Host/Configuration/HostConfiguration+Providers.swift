internal import LocalDataAPI

extension HostConfiguration {
    /// What the project's own crypto providers offer on no machine, by their ids. What another provider offers shows
    /// when it is opened.
    static let lackingAlgorithms: [String: (ciphers: [AuthenticatedCipher], derivations: [KeyDerivationFunction])] = [
        "openssl": ([.xChaCha20Poly1305], [.argon2id]), "sodium": ([], []),
    ]

    /// The stores whose sealing the configured crypto provider cannot compute: nothing could be stored in them, and
    /// what another provider sealed would not open.
    func incomputableSealings() -> [ConfigurationProblem] {
        guard let provider = try? encryption().provider, let lacking = Self.lackingAlgorithms[provider] else {
            return []
        }
        let anywhere = HostSettings.Folders(data: "/", cache: "/", state: "/", config: "/")
        return ((try? layered.keys(at: ["stores"])) ?? []).sorted().flatMap { name -> [ConfigurationProblem] in
            guard let sealing = try? sealing(ofStore: name, anywhere) else { return [] }
            var problems: [ConfigurationProblem] = []
            func add(_ member: String, _ algorithm: String, others: [String], instead: String) {
                let path = ["stores", name, "sealing", member]
                guard let origin = layered.value(at: path)?.origin else { return }
                problems.append(
                    ConfigurationProblem(
                        path: path, origin: origin,
                        message: "the crypto provider '\(provider)' does not offer \(algorithm)",
                        hint: "set encryption.provider to \(others.joined(separator: " or ")), or use \(instead)"))
            }
            if lacking.ciphers.contains(sealing.cipher) {
                let others = Self.providers { !$0.ciphers.contains(sealing.cipher) }
                add("cipher", sealing.cipher.name, others: others, instead: AuthenticatedCipher.chaCha20Poly1305.name)
            }
            let function = sealing.derivation.function
            if lacking.derivations.contains(function) {
                let others = Self.providers { !$0.derivations.contains(function) }
                let instead = KeyDerivationFunction.pbkdf2HMACSHA256
                add("derivation", "\(function)", others: others, instead: "\(instead)")
            }
            return problems
        }
    }

    private static func providers(
        _ isSuitable: ((ciphers: [AuthenticatedCipher], derivations: [KeyDerivationFunction])) -> Bool
    ) -> [String] { lackingAlgorithms.filter { isSuitable($0.value) }.keys.sorted() }
}
