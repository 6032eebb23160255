internal import ByteCoding
internal import LocalDataAPI

/// What a device says of its own records, and which of others it has taken in.
package struct SyncStatus: Hashable, Sendable {
    /// The highest counter of its records.
    package var counter: UInt64 = 0
    /// Removals and releases up to this counter have ended: every member had taken them in.
    package var ended: UInt64 = 0
    /// The highest counter that waits for acknowledgement; 0 if none does.
    package var waiting: UInt64 = 0
    /// Its records, but those that have ended.
    package var records = SyncDigest()
    /// The counters up to which it has taken in other writers' records.
    package var acknowledged: [DeviceID: UInt64] = [:]
    /// What it knows of others, by which a device notices that it was restored from an older image.
    package var known: [DeviceID: Known] = [:]

    package struct Known: Hashable, Sendable {
        /// The counter of the latest status.
        package var status: UInt64
        /// The highest counter up to which all records were here.
        package var taken: UInt64
    }
    /// Whether it is new in the group, and has published nothing yet.
    package var isJoining = false

    package init() {}

    func write(to writer: inout ByteWriter) {
        writer.add(counter)
        writer.add(ended)
        writer.add(waiting)
        writer.add(UInt8(isJoining ? 1 : 0))
        records.write(to: &writer)
        writer.add(UInt16(acknowledged.count))
        for (device, counter) in acknowledged.sorted(by: { $0.key < $1.key }) {
            writer.add(device)
            writer.add(counter)
            writer.add(known[device]?.status ?? 0)
            writer.add(known[device]?.taken ?? 0)
        }
    }

    init?(_ reader: inout ByteReader) {
        guard let counter = reader.number(UInt64.self), let ended = reader.number(UInt64.self),
            let waiting = reader.number(UInt64.self), let isJoining = reader.number(UInt8.self), isJoining < 2,
            let records = SyncDigest(&reader), let count = reader.number(UInt16.self)
        else { return nil }
        (self.counter, self.ended, self.waiting, self.records) = (counter, ended, waiting, records)
        self.isJoining = isJoining == 1
        for _ in 0..<count {
            guard let device = reader.device(), let counter = reader.number(UInt64.self),
                let status = reader.number(UInt64.self), let taken = reader.number(UInt64.self)
            else { return nil }
            acknowledged[device] = counter
            known[device] = Known(status: status, taken: taken)
        }
        guard reader.isAtEnd else { return nil }
    }
}
