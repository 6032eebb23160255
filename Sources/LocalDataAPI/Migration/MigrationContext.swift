#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The facts that a migration may base its decision on.
public struct MigrationContext: Sendable {
    /// The version of the running app (`app.version` in the configuration), or `nil` if it is not set.
    public let appVersion: String?
    /// The version of the app that wrote the data, or `nil` if unknown.
    public let dataVersion: String?
    /// The device.
    public let deviceInfo: DeviceInfo
    /// The system.
    public let systemInfo: SystemInfo
    /// The commit dates of migrations by id, whichever process ran them: those to this destination, and to all others
    /// whose stores the app's migrations use.
    public let migrationHistory: [String: Date]
    /// The user's choices: `migrations.preferences` of the configuration, overridden by those that the app sets.
    public let userPreferences: [String: AnyCodable]

    /// Creates a context; tests create their own.
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

/// The operating system's family.
public typealias Platform = DeviceInfo.Platform
