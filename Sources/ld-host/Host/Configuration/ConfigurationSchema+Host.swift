internal import LocalDataAPI

extension ConfigurationSchema {
    /// The configuration of the host. Defaults that depend on the environment, and the stores of the domains, are in
    /// `HostConfiguration.defaults`.
    package static let host = ConfigurationSchema(rules: [
        ConfigurationRule("plugins", .object, "where plugins are looked for"),
        ConfigurationRule(
            "plugins.path", .absolutePaths, default: .array([]),
            "directories and .so files, searched besides the built-in places"),
        ConfigurationRule(
            "plugins.timeout", .seconds(upTo: 3600), default: .double(5), "how long inspecting a plugin may take"),
        ConfigurationRule("stores", .object, "the stores, by a name of your choice"),
        ConfigurationRule("stores.<store>", .object, "one store: a component with its options"),
        ConfigurationRule("stores.<store>.component", .name, isRequired: true, "the id of the component that stores"),
        ConfigurationRule(
            "stores.<store>.options", .freeObject, default: .object([:]), "the component's own options"),
        ConfigurationRule("stores.<store>.sealing", .sealing, default: .null, "how values are sealed; null for not"),
        ConfigurationRule(
            "stores.<store>.sealing.source", .choice(HostSettings.Sealing.sources), isRequired: true,
            "where the key comes from that seals the store's key ring"),
        ConfigurationRule(
            "stores.<store>.sealing.path", .absolutePath, "keyFile: the file; keys/STORE.key below ${config} if not set"
        ),
        ConfigurationRule(
            "stores.<store>.sealing.from", .text, "passphrase: terminal, or fd:N for a file descriptor"),
        ConfigurationRule(
            "stores.<store>.sealing.name", .text,
            "credential: its name in systemd's $CREDENTIALS_DIRECTORY; provider: the id of its KeyMaterialSource"),
        ConfigurationRule(
            "stores.<store>.sealing.service", .text, "keychain: the service that the key is stored under"),
        ConfigurationRule("stores.<store>.sealing.account", .text, "keychain: the name that the key is stored under"),
        ConfigurationRule(
            "stores.<store>.sealing.cipher", .choice(AuthenticatedCipher.all.map(\.name)),
            default: .string(AuthenticatedCipher.chaCha20Poly1305.name), "what seals the values"),
        ConfigurationRule(
            "stores.<store>.sealing.derivation", .choice(KeyDerivation.functions.map(\.description)),
            "how the key comes from the source: HKDF-SHA256 for keys, the others for passphrases"),
        ConfigurationRule(
            "stores.<store>.sealing.iterations", .integer(1...10_000_000),
            "PBKDF2: iterations, 600000 if not set; Argon2id: passes, 3 if not set"),
        ConfigurationRule(
            "stores.<store>.sealing.memory", .integer(1...4096), "Argon2id: memory in MiB, 64 if not set"),
        ConfigurationRule(
            "stores.<store>.concurrency", .integer(1...64), default: .integer(48), "how many calls may run at once"),
        ConfigurationRule(
            "stores.<store>.timeout", .seconds(upTo: 86400), default: .double(10), "how long a call may take"),
        ConfigurationRule("catalogs", .absolutePaths, "manifests that describe the keys of apps"),
        ConfigurationRule("domains", .object, "which store serves which domain"),
        ConfigurationRule("domains.<domain>", .name, "the name of a store, or the id of a component"),
        ConfigurationRule("keychain", .object, "the keychain domain"),
        ConfigurationRule("keychain.service", .text, "the service name of keys that bring none"),
        ConfigurationRule(
            "keychain.accessibility", .choice(["advisory", "refuse"]), default: .string("advisory"),
            "what becomes of keys whose accessibility the store cannot enforce"),
        ConfigurationRule(
            "keychain.accessControl", .choice(["advisory", "refuse"]), default: .string("refuse"),
            "what becomes of keys with an access control, which no store here can enforce"),
        ConfigurationRule("encryption", .object, "how values are encrypted"),
        ConfigurationRule(
            "encryption.provider", .name, default: .string("openssl"), "the id of the crypto component that computes"),
        ConfigurationRule(
            "encryption.service", .text, default: .string(HostSettings.Encryption.defaultService),
            "the keychain service that the master keys are stored under"),
        ConfigurationRule(
            "encryption.account", .text, default: .string(HostSettings.Encryption.defaultAccount),
            "the keychain name that the master keys are stored under"),
        ConfigurationRule(
            "encryption.keyLength", .integer(32...64), default: .integer(32), "bytes of a new master key"),
        ConfigurationRule(
            "encryption.iterations", .integer(1...10_000_000), default: .integer(600_000),
            "PBKDF2 iterations of values that are written"),
        ConfigurationRule("appGroups", .object, "the app group domains"),
        ConfigurationRule("appGroups.default", .text, "the app group of keys that bring none"),
        ConfigurationRule("appGroups.path", .absolutePath, "the directory that holds the shared containers"),
        ConfigurationRule("files", .object, "the file domains"),
        ConfigurationRule("files.subDirectory", .subdirectory, "the directory of this app below the data directory"),
        ConfigurationRule("directories", .object, "directories in place of those of the XDG specification"),
        ConfigurationRule("directories.data", .absolutePath, "where data is kept"),
        ConfigurationRule("directories.cache", .absolutePath, "where what can be made again is kept"),
        ConfigurationRule("directories.state", .absolutePath, "where journals are kept"),
        ConfigurationRule("directories.config", .absolutePath, "what ${config} stands for in options"),
        ConfigurationRule("app", .object, "the app that uses the host"),
        ConfigurationRule("app.version", .text, "its version, for migrations that depend on it"),
        ConfigurationRule("migrations", .object, "how older data is brought to the keys of today"),
        ConfigurationRule(
            "migrations.dataVersion", .text, "the version of the app that wrote data which does not say it"),
        ConfigurationRule(
            "migrations.grace", .integer(0...3650), default: .integer(7),
            "days for which what a migration replaced or removed is kept, to roll it back"),
        ConfigurationRule(
            "migrations.preferences", .freeObject, "what the user chose, for migrations that depend on it"),
        ConfigurationRule("migrations.packs", .object, "the migration packs, by a name of your choice"),
        ConfigurationRule("migrations.packs.<pack>", .object, "one pack: a component with its options"),
        ConfigurationRule(
            "migrations.packs.<pack>.component", .name, isRequired: true, "the id of the component that migrates"),
        ConfigurationRule(
            "migrations.packs.<pack>.options", .freeObject, default: .object([:]), "the component's own options"),
        ConfigurationRule(
            "migrations.packs.<pack>.timeout", .seconds(upTo: 86400), default: .double(300),
            "how long one run of one of its migrations may take"),
        ConfigurationRule("device", .object, "the device the host runs on"),
        ConfigurationRule(
            "device.role", .choice(["all", "phone", "watch"]), default: .string("all"),
            "the kind of device keys are limited to"),
        ConfigurationRule("log", .object, "what is logged"),
        ConfigurationRule(
            "log.level", .choice(["debug", "info", "warning", "error", "off"]), default: .string("warning"),
            "the least severe messages that are logged"),
    ])
}
