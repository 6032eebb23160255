internal import CLocalData
internal import HostGround
package import LocalDataAPI
internal import Synchronization

/// The host's table for components, one per log for the life of the process.
package final class HostTable: @unchecked Sendable {
    // The tables are written in init and never changed or freed.
    let pointer: UnsafePointer<ld_host>
    private let logTable: UnsafePointer<ld_host_log>
    let log: any StorageLogHandler

    /// Creates a table that is never freed, since components may keep it.
    private init(log: any StorageLogHandler) {
        self.log = log
        let context = UnsafeMutablePointer<Unmanaged<HostTable>>.allocate(capacity: 1)
        logTable = .immortal(
            ld_host_log(
                size: UInt32(MemoryLayout<ld_host_log>.size), context: context, threshold: logThreshold,
                log: takeLogMessage))
        pointer = .immortal(
            ld_host(
                size: UInt32(MemoryLayout<ld_host>.size), context: context, name: "LocalData".immortalBytes(),
                version: HostVersion.current.immortalBytes(), extension: findService))
        context.initialize(to: Unmanaged.passRetained(self))
    }

    private static let tables = Mutex<[(log: any StorageLogHandler, table: HostTable)]>([])

    /// The table for a log: one per relay, and else one per kind and level, since they are never freed.
    package static func shared(for log: any StorageLogHandler) -> HostTable {
        tables.withLock { tables in
            if let relay = log as? LogRelay {
                // The latest router's is asked for most.
                if let known = tables.last(where: { $0.log as? LogRelay === relay }) { return known.table }
            } else if type(of: log) is SilentLog.Type || type(of: log) is StandardErrorLog.Type,
                let known = tables.first(where: { type(of: $0.log) == type(of: log) && $0.log.level == log.level })
            {
                return known.table
            }
            let table = HostTable(log: log)
            tables.append((log, table))
            return table
        }
    }

    fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> HostTable? {
        context?.assumingMemoryBound(to: Unmanaged<HostTable>.self).pointee.takeUnretainedValue()
    }

    fileprivate func service(_ id: String) -> UnsafeRawPointer? {
        id == LD_HOST_LOG ? UnsafeRawPointer(logTable) : nil
    }

    fileprivate var threshold: Int32 { log.level.rawValue }

    fileprivate func take(_ level: Int32, _ label: ld_bytes, _ message: ld_bytes) {
        let level = StorageLogLevel(rawValue: min(max(level, 0), StorageLogLevel.error.rawValue)) ?? .error
        if level >= log.level { log.log(level, label: label.lenientText, message.lenientText) }
    }
}

private func findService(context: UnsafeMutableRawPointer?, id: ld_bytes) -> UnsafeRawPointer? {
    id.text.flatMap { HostTable.of(context)?.service($0) }
}

private func logThreshold(context: UnsafeMutableRawPointer?) -> Int32 {
    HostTable.of(context)?.threshold ?? StorageLogLevel.error.rawValue
}

private func takeLogMessage(context: UnsafeMutableRawPointer?, level: Int32, label: ld_bytes, message: ld_bytes) {
    HostTable.of(context)?.take(level, label, message)
}
