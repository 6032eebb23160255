internal import CLocalData

extension HostServices {
    /// The host on the other side of the boundary.
    init(_ host: UnsafePointer<ld_host>?) {
        guard let host, host.pointee.size >= UInt32(MemoryLayout<ld_host>.size) else {
            self.init(name: "unknown", version: "")
            return
        }
        self.init(
            name: host.pointee.name.lenientText, version: host.pointee.version.lenientText,
            log: HostLog(host) ?? SilentLog() as any StorageLogHandler)
    }
}

/// The host's log, as a plugin reaches it.
private struct HostLog: StorageLogHandler, @unchecked Sendable {
    // The table is constant and valid until the process ends, and its functions may be called from any thread.
    private let table: ld_host_log

    init?(_ host: UnsafePointer<ld_host>) {
        let service = LD_HOST_LOG.withBytes { host.pointee.extension?(host.pointee.context, $0) }
        guard let log = service?.assumingMemoryBound(to: ld_host_log.self),
            log.pointee.size >= UInt32(MemoryLayout<ld_host_log>.size)
        else { return nil }
        table = log.pointee
    }

    var level: StorageLogLevel {
        StorageLogLevel(rawValue: table.threshold?(table.context) ?? StorageLogLevel.error.rawValue) ?? .error
    }

    func log(_ level: StorageLogLevel, label: String, _ message: String) {
        label.withBytes { label in
            message.withBytes { message in table.log?(table.context, level.rawValue, label, message) }
        }
    }
}
