#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
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

/// The device that a migration runs on.
public struct DeviceInfo: Hashable, Sendable {
    /// The operating system's family.
    public enum Platform: String, Codable, CaseIterable, Hashable, Sendable {
        /// Linux.
        case linux
        /// Any other system.
        case unknown
    }

    /// The operating system's family.
    public let platform: Platform
    /// The role that the configuration gives the device.
    public let role: DeviceRole
    /// The kernel's release, e.g. `6.1.0-18-amd64`.
    public let systemVersion: String
    /// The machine's hardware name, e.g. `x86_64`.
    public let model: String

    /// Always `false` on Linux. For conditions that an app shares with other systems.
    public var isSimulator: Bool { false }

    /// Describes a device; tests create their own.
    public init(platform: Platform, role: DeviceRole, systemVersion: String, model: String) {
        self.platform = platform
        self.role = role
        self.systemVersion = systemVersion
        self.model = model
    }

    /// This device, with the role `all`.
    public static var current: DeviceInfo { DeviceInfo(role: .all) }

    /// This device with a role.
    public init(role: DeviceRole) {
        var system = utsname()
        uname(&system)
        #if os(Linux)
            let platform = Platform.linux
        #else
            let platform = Platform.unknown
        #endif
        self.init(
            platform: platform, role: role, systemVersion: Self.text(&system.release), model: Self.text(&system.machine)
        )
    }

    private static func text<Characters>(_ characters: inout Characters) -> String {
        withUnsafeBytes(of: &characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// The operating system's family.
public typealias Platform = DeviceInfo.Platform

/// The resources of the system while a migration runs.
public struct SystemInfo: Hashable, Sendable {
    /// Bytes that this user may still write in the file system of the host's data folder, or of a given folder.
    public let availableDiskSpace: UInt64
    /// Bytes of memory available without swapping (`MemAvailable`); 0 if the system does not report it.
    public let availableMemory: UInt64
    /// Whether the firmware's power profile is `low-power` (`/sys/firmware/acpi/platform_profile`).
    public let isLowPowerModeEnabled: Bool

    /// Describes a system; tests create their own.
    public init(availableDiskSpace: UInt64, availableMemory: UInt64, isLowPowerModeEnabled: Bool = false) {
        self.availableDiskSpace = availableDiskSpace
        self.availableMemory = availableMemory
        self.isLowPowerModeEnabled = isLowPowerModeEnabled
    }

    /// The system now, with the current folder's file system; read again each time.
    public static var current: SystemInfo { current(at: ".") }

    /// The system now, with the file system that holds `path`; if `path` does not exist, that of its nearest folder.
    public static func current(at path: String) -> SystemInfo {
        var path = path
        while access(path, F_OK) != 0, let end = path.lastIndex(of: "/"), end > path.startIndex {
            path = String(path[..<end])
        }
        return SystemInfo(
            availableDiskSpace: freeSpace(at: path), availableMemory: freeMemory(),
            isLowPowerModeEnabled: firstLine(of: "/sys/firmware/acpi/platform_profile") == "low-power")
    }

    private static func firstLine(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Bytes that this user may still write in the file system that holds `path`; 0 if that is unknown.
    public static func freeSpace(at path: String) -> UInt64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return 0 }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    private static func freeMemory() -> UInt64 {
        guard let file = fopen("/proc/meminfo", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("MemAvailable:") else { continue }
            return (text.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } ?? 0) * 1024
        }
        return 0
    }
}
