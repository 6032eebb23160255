internal import LocalDataAPI

/// A new configuration file: today's defaults, so that they never change by themselves, but for what was chosen.
package struct StarterConfiguration: Sendable {
    /// The store of the keychain's values.
    package enum Keychain: CaseIterable, Sendable {
        /// Files, sealed with a key from a file that the user alone can read.
        case keyFile
        /// Files, sealed with a passphrase that is asked for.
        case passphrase
        /// The keyring of the desktop.
        case secretService
    }

    package var keychain = Keychain.keyFile
    /// The store of `userDefaults`; `nil` for the one that serves it today.
    package var userDefaults: String?
    /// The crypto provider; `nil` to say none.
    package var provider: String?

    package init() {}

    /// The file's text.
    ///
    /// - Parameter today: The routes that are in effect; those of the built-in defaults if none are known.
    func text(today: [String: HostSettings.Route]) -> String {
        let domains = HostConfiguration.standardRoutes.map { domain, store in
            let chosen: String? =
                switch domain {
                case "keychain" where keychain == .secretService: "secret-service"
                case "userDefaults": userDefaults
                default: nil
                }
            return "    \(domain): \"\(chosen ?? today[domain]?.store.name ?? store)\","
        }.joined(separator: "\n")
        return """
            // LocalData's configuration: JSON with comments and trailing commas.
            // See what is in effect, and where it comes from, with: ld-host config show --origin
            {
              // Which store serves which domain: a store's name from below, or a component's id.
              domains: {
            \(domains)
              },
            \(provider.map { "\n  // Which library encrypts.\n  encryption: { provider: \"\($0)\" },\n" } ?? "")
              // Stores with options of their own.
              stores: {
            \(sealedStore)    // archive: { component: "file", options: { root: "/srv/archive" } },
              },
            }

            """
    }

    private var sealedStore: String {
        let name = HostConfiguration.sealedStore
        let (comment, source) =
            switch keychain {
            case .secretService: ("", "")
            case .keyFile:
                (
                    """
                    // The keychain: files whose values are sealed. The key is in keys/\(name).key beside this file,
                    // readable by you alone; keep a copy of it with your backups, but apart from the data.
                    """, "keyFile"
                )
            case .passphrase:
                (
                    """
                    // The keychain: files whose values are sealed. Each program that needs one asks for the passphrase.
                    // Without the passphrase nobody can open them, you included.
                    """, "passphrase"
                )
            }
        guard !source.isEmpty else { return "" }
        let lines = """
            \(comment)
            "\(name)": {
              component: "file",
              options: { root: "${data}/keychain" },
              sealing: { source: "\(source)" },
            },
            """
        return lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    }
}
