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
