/// Identifiers for keys that leave them out with `nil`.
public struct StorageConfiguration: Hashable, Sendable {
    /// The service of keychain keys; configuration `keychain.service`.
    public var defaultKeychainService: String?
    /// The group of app group keys; configuration `appGroups.default`.
    public var defaultAppGroupIdentifier: String?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(defaultKeychainService: String? = nil, defaultAppGroupIdentifier: String? = nil) {
        self.defaultKeychainService = defaultKeychainService
        self.defaultAppGroupIdentifier = defaultAppGroupIdentifier
    }
}

/// Where master keys are kept and how values are encrypted from now on. Stored values stay readable whatever is set
/// here: each sealed value records the ring and the parameters that open it.
public struct EncryptionConfiguration: Hashable, Sendable {
    /// The keychain service of the master keys; configuration `encryption.service`.
    public var masterKeyService: String?
    /// The keychain account of the master keys; configuration `encryption.account`.
    public var masterKeyAccount: String?
    /// The size of a new master key, 32 to 64 bytes; configuration `encryption.keyLength`.
    public var masterKeyLength: Int?
    /// PBKDF2 iterations of values whose policy sets no number; configuration `encryption.iterations`.
    public var pbkdf2Iterations: Int?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(
        masterKeyService: String? = nil, masterKeyAccount: String? = nil, masterKeyLength: Int? = nil,
        pbkdf2Iterations: Int? = nil
    ) {
        self.masterKeyService = masterKeyService
        self.masterKeyAccount = masterKeyAccount
        self.masterKeyLength = masterKeyLength
        self.pbkdf2Iterations = pbkdf2Iterations
    }
}

/// Where this app's values are within the folders of the file-system domains.
public struct FileStorageConfiguration: Hashable, Sendable {
    /// Separates this app's values from those of others in the same folder; configuration `files.subDirectory`.
    public var subDirectory: String?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(subDirectory: String? = nil) { self.subDirectory = subDirectory }
}

/// How values get to the user's other devices.
public struct SyncConfiguration: Hashable, Sendable {
    /// The size in bytes up to which values of keys with the policy `automaticSmall` are synced; configuration
    /// `sync.maxAutoSyncSize`. Larger values stay on the device, and ``SyncReport/tooLarge`` names them.
    public var maxAutoSyncSize: Int?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(maxAutoSyncSize: Int? = nil) { self.maxAutoSyncSize = maxAutoSyncSize }
}
