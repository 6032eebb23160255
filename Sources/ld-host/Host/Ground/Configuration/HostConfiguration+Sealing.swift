internal import LocalDataAPI

extension HostConfiguration {
    /// How the configuration seals a store; `nil` for not at all.
    ///
    /// - Throws: `invalidConfiguration` if what the source needs is missing, or what it does not take is there.
    func sealing(ofStore name: String, _ folders: HostSettings.Folders) throws(StorageError) -> HostSettings.Sealing? {
        do { return try checkedSealing(ofStore: name, folders) } catch {
            throw (error as? StorageError) ?? (error as? ConfigurationProblem)?.error
                ?? StorageError(.invalidConfiguration, "\(error)")
        }
    }

    /// Rules beyond the schema: the members of a key source depend on its kind.
    func sealingProblems() -> [ConfigurationProblem] {
        let anywhere = HostSettings.Folders(data: "/", cache: "/", state: "/", config: "/")
        return ((try? layered.keys(at: ["stores"])) ?? []).compactMap { name in
            do { _ = try checkedSealing(ofStore: name, anywhere) } catch { return error as? ConfigurationProblem }
            return nil
        }
    }

    /// - Throws: `ConfigurationProblem`, or `StorageError` for what the schema refuses.
    private func checkedSealing(
        ofStore name: String, _ folders: HostSettings.Folders
    ) throws -> HostSettings.Sealing? {
        let path = ["stores", name, "sealing"]
        guard let (value, origin) = layered.value(at: path), value != .null else { return nil }
        func text(_ member: String) throws(StorageError) -> String? {
            guard case .object = value else { return nil }
            return try layered.string(at: path + [member])
        }
        func number(_ member: String) throws(StorageError) -> Int64? {
            guard case .object = value else { return nil }
            return try layered.integer(at: path + [member])
        }
        func invalid(_ what: String, _ hint: String, at member: String? = nil) -> ConfigurationProblem {
            let place = path + (member.map { [$0] } ?? [])
            return ConfigurationProblem(
                path: place, origin: layered.value(at: place)?.origin ?? origin, message: what, hint: hint)
        }
        let word: String
        if case .string(let source) = value { word = source } else { word = try text("source") ?? "" }
        let own: [String: [String]] = [
            "keyFile": ["path"], "passphrase": ["from"], "credential": ["name"], "keychain": ["service", "account"],
            "provider": ["name"],
        ]
        // The schema has refused another one, and whatever else is said of it is no help.
        guard word.isEmpty || HostSettings.Sealing.sources.contains(word) else {
            throw StorageError(
                .invalidConfiguration,
                "\(ConfigurationPath(path)): the source is '\(word)'; expected one of "
                    + HostSettings.Sealing.sources.joined(separator: ", "))
        }
        if case .object(let members) = value {
            for member in members.keys.sorted() {
                let takers = own.filter { $0.value.contains(member) }.keys.sorted()
                guard takers.isEmpty || takers.contains(word) else {
                    throw invalid(
                        "'\(member)' has no meaning for the source '\(word)'",
                        "it belongs to \(takers.joined(separator: " and "))", at: member)
                }
            }
        }
        let source: HostSettings.Sealing.Source
        switch word {
        case "keyFile": source = .keyFile(path: try text("path") ?? "\(folders.config)/keys/\(name).key")
        case "passphrase":
            let from = try text("from") ?? "terminal"
            if from == "terminal" {
                source = .terminal
            } else if from.hasPrefix("fd:"), let descriptor = Int32(from.dropFirst(3)), descriptor > 2 {
                // Values come from the standard input: a passphrase from there would leave none of it.
                source = .descriptor(descriptor)
            } else {
                throw invalid(
                    "'from' is '\(from)'; expected terminal, or fd:N with N of 3 or more",
                    "for a file use the source keyFile", at: "from")
            }
        case "credential":
            let name = try text("name") ?? "localdata"
            guard !name.contains("/"), !name.utf8.contains(0), name != "..", name != "." else {
                throw invalid(
                    "'name' is '\(name)'; expected the name of a file, without '/'", "see systemd.exec(5)", at: "name")
            }
            source = .credential(name: name)
        case "keychain":
            source = .keychain(
                service: try text("service") ?? HostSettings.Encryption.defaultService,
                account: try text("account") ?? "store \(name)")
        case "provider":
            guard let id = try text("name") else {
                throw invalid("'name' is missing", "name the KeyMaterialSource that the app registers")
            }
            source = .provider(id: id)
        default:
            throw invalid("'source' is missing", "use one of \(HostSettings.Sealing.sources.joined(separator: ", "))")
        }
        let cipher = try text("cipher")
        let iterations = try number("iterations").map { UInt32(clamping: $0) }
        let memory = try number("memory").map { UInt32(clamping: $0) }
        let derivation: KeyDerivation
        switch try text("derivation") ?? source.usualDerivation.description {
        case KeyDerivationFunction.pbkdf2HMACSHA256.description:
            derivation = .pbkdf2(iterations: iterations ?? 600_000)
        case KeyDerivationFunction.argon2id.description:
            derivation = .argon2id(passes: iterations ?? 3, memory: (memory ?? 64) << 10)
        default: derivation = .hkdf()
        }
        return HostSettings.Sealing(
            source: source,
            cipher: AuthenticatedCipher.all.first { $0.name == cipher } ?? .chaCha20Poly1305, derivation: derivation)
    }

    /// The settings of `encryption`.
    func encryption() throws(StorageError) -> HostSettings.Encryption {
        HostSettings.Encryption(
            provider: try layered.string(at: ["encryption", "provider"]) ?? "openssl",
            service: try layered.string(at: ["encryption", "service"]) ?? HostSettings.Encryption.defaultService,
            account: try layered.string(at: ["encryption", "account"]) ?? HostSettings.Encryption.defaultAccount,
            keyLength: Int(try layered.integer(at: ["encryption", "keyLength"]) ?? 32),
            iterations: UInt32(clamping: try layered.integer(at: ["encryption", "iterations"]) ?? 600_000))
    }
}

extension HostSettings.Sealing.Source {
    /// Keys need no stretching; passphrases do.
    fileprivate var usualDerivation: KeyDerivationFunction {
        switch self {
        case .keyFile, .keychain, .provider: .hkdfSHA256
        case .terminal, .descriptor, .credential: .pbkdf2HMACSHA256
        }
    }
}
