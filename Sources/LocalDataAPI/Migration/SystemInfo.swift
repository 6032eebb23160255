internal import Glibc

/// What the system has to spare while a migration runs.
public struct SystemInfo: Hashable, Sendable {
    /// Bytes that this user may still write in the current folder's file system.
    public let availableDiskSpace: UInt64
    /// Bytes of memory that can be had without swapping (`MemAvailable`), 0 if the system does not say.
    public let availableMemory: UInt64

    /// Describes a system; tests make their own.
    public init(availableDiskSpace: UInt64, availableMemory: UInt64) {
        self.availableDiskSpace = availableDiskSpace
        self.availableMemory = availableMemory
    }

    /// The system now; read anew each time.
    public static var current: SystemInfo {
        SystemInfo(availableDiskSpace: freeSpace(at: "."), availableMemory: freeMemory())
    }

    /// Bytes that this user may still write in the file system that holds `path`; 0 if it cannot be asked.
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
