internal import CLocalData

extension HostServices {
    /// The host on the other side of the boundary.
    init(_ host: UnsafePointer<ld_host>?) {
        var known = ld_host()
        guard BoundaryStruct.copy(host, into: &known, least: ld_host_least_size) else {
            self.init(name: "unknown", version: "")
            return
        }
        self.init(
            name: known.name.lenientText, version: known.version.lenientText,
            log: HostLog(known) ?? SilentLog() as any StorageLogHandler)
    }
}

/// The host's log, as a plugin reaches it.
private struct HostLog: StorageLogHandler, @unchecked Sendable {
    // The table is constant and valid until the process ends, and its functions may be called from any thread.
    private let table: ld_host_log

    init?(_ host: ld_host) {
        let service = LD_HOST_LOG.withBytes { host.extension?(host.context, $0) }
        var table = ld_host_log()
        guard BoundaryStruct.copy(service, into: &table, least: ld_host_log_least_size) else { return nil }
        self.table = table
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
