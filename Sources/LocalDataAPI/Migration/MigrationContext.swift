public import FoundationEssentials

/// What a migration may base its decision on.
public struct MigrationContext: Sendable {
    /// The version of the running app (`app.version` in the configuration), or `nil` if nobody said it.
    public let appVersion: String?
    /// The version of the app that wrote the data, or `nil` if it is not known.
    public let dataVersion: String?
    /// The device.
    public let deviceInfo: DeviceInfo
    /// The system.
    public let systemInfo: SystemInfo
    /// When which migration was committed, by its id: those to this and all other destinations whose stores the app's
    /// migrations use, by whatever process.
    public let migrationHistory: [String: Date]
    /// Choices of the user: `migrations.preferences` of the configuration, and what the app says over it.
    public let userPreferences: [String: AnyCodable]

    /// Creates a context; tests make their own.
    public init(
        appVersion: String? = nil, dataVersion: String? = nil, deviceInfo: DeviceInfo = .current,
        migrationHistory: [String: Date] = [:], userPreferences: [String: AnyCodable] = [:],
        systemInfo: SystemInfo = .current
    ) {
        self.appVersion = appVersion
        self.dataVersion = dataVersion
        self.deviceInfo = deviceInfo
        self.systemInfo = systemInfo
        self.migrationHistory = migrationHistory
        self.userPreferences = userPreferences
    }
}
