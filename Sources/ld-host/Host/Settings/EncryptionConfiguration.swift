/// Where master keys are kept and how values are encrypted that are written from now on. What is stored already stays
/// readable whatever is set here: each sealed value says which ring and which parameters open it.
public struct EncryptionConfiguration: Hashable, Sendable {
    /// The keychain service that the master keys are stored under; configuration `encryption.service`.
    public var masterKeyService: String?
    /// The name that they are stored under; configuration `encryption.account`.
    public var masterKeyAccount: String?
    /// Bytes of a new master key, 32 to 64; configuration `encryption.keyLength`.
    public var masterKeyLength: Int?
    /// PBKDF2 iterations of values whose policy gives no number; configuration `encryption.iterations`.
    public var pbkdf2Iterations: Int?

    /// Creates a configuration; `nil` leaves what configuration files say.
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
