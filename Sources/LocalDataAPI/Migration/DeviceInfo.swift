#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

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
