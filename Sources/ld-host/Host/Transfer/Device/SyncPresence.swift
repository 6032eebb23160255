internal import ByteCoding
internal import FoundationEssentials
internal import HostSync
internal import LocalDataAPI

/// How long this device has not heard of others.
///
/// Counted are the days on which this device has synced, not those that its clock says have passed: a clock that jumps
/// ahead by a year makes nobody absent. Of a device that was already heard on a day, later statuses of that day are not
/// noted, so that not each of them is a write; they may count on the next day.
///
/// Encoded: version 1 (1 byte), the last day (8), the number of devices (2), for each its id (16), the counter of its
/// latest status (8) and the days (4), and the hash of all that; numbers are big-endian.
struct SyncPresence: Equatable {
    private static let version: UInt8 = 1

    private struct Row: Equatable {
        var counter: UInt64
        var silentDays: UInt32 = 0
    }

    private var rows: [DeviceID: Row] = [:]
    /// The last day on which this device synced, in days since 1970 UTC.
    private var lastDay: UInt64 = 0

    init() {}

    /// Takes notice of what was heard today.
    ///
    /// - Parameters:
    ///   - counters: Those of the members' latest statuses; 0 for none.
    ///   - now: Milliseconds since 1970 UTC.
    mutating func update(_ counters: [DeviceID: UInt64], now: UInt64) {
        let day = now / 86_400_000
        let isNewDay = day != lastDay
        lastDay = day
        var next: [DeviceID: Row] = [:]
        for (device, counter) in counters {
            var row = rows[device] ?? Row(counter: counter)
            if row.counter == counter {
                if isNewDay { row.silentDays += 1 }
            } else if isNewDay || row.silentDays > 0 {
                row = Row(counter: counter)
            }
            next[device] = row
        }
        rows = next
    }

    /// The devices that were not heard of for more than some days.
    func absent(after days: Int) -> Set<DeviceID> {
        Set(rows.filter { Int($0.value.silentDays) > days }.keys)
    }

    func encoded() -> Data {
        var writer = ByteWriter(.bigEndian, [Self.version])
        writer.add(lastDay)
        writer.add(UInt16(rows.count))
        for (device, row) in rows.sorted(by: { $0.key < $1.key }) {
            writer.add(device)
            writer.add(row.counter)
            writer.add(row.silentDays)
        }
        writer.addHash()
        return Data(writer.bytes)
    }

    /// Decodes it; `nil` if it is damaged. Then nobody counts as absent yet.
    init?(_ data: Data) {
        guard var reader = ByteReader(hashed: .bigEndian, data), reader.number(UInt8.self) == Self.version,
            let lastDay = reader.number(UInt64.self), let count = reader.number(UInt16.self)
        else { return nil }
        self.lastDay = lastDay
        for _ in 0..<count {
            guard let device = reader.device(), let counter = reader.number(UInt64.self),
                let days = reader.number(UInt32.self)
            else { return nil }
            rows[device] = Row(counter: counter, silentDays: days)
        }
    }
}
