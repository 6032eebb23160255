#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

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
