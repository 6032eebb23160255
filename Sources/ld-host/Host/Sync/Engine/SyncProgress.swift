internal import ByteCoding
internal import FoundationEssentials

/// How far a device has come, beside the entries of its keys.
struct SyncProgress: Equatable, Sendable {
    /// What is known of a writer.
    struct Writer: Equatable, Sendable {
        /// Its latest status, and that record's counter.
        var status: SyncStatus?
        var statusCounter: UInt64 = 0
        /// All of its records up to this counter have been taken in; what comes later with a lower one is a replay.
        var taken: UInt64 = 0
    }

    /// Where the next fetch begins; `nil` for one from the beginning.
    var position: Data?
    /// Whether the device is new, and takes over what the group has before it publishes anything.
    var isJoining = true
    /// Whether the device has noticed that it was restored from an older image, and has not begun again yet.
    var isRestored = false
    /// Whether records were passed over that may be readable once more is known of the group.
    var hasPassedOver = false
    /// The highest counter that was ever given to a record of a key.
    var counter: UInt64 = 0
    /// Own records up to this counter are published.
    var confirmed: UInt64 = 0
    /// Own records up to this counter have to be published again.
    var outdated: UInt64 = 0
    /// Own removals and releases up to this counter have ended.
    var ended: UInt64 = 0
    /// The epoch under which own records are published.
    var epoch: UInt32 = 0
    /// The counter of the latest status that this device has published.
    var statusCounter: UInt64 = 0
    /// The highest counter that this device has given out and does not know, while it takes over the group's values
    /// since it was restored from an older image; otherwise 0.
    var forgotten: UInt64 = 0
    /// The latest time of the clock when this was saved.
    var time: UInt64 = 0
    var writers: [DeviceID: Writer] = [:]
    /// Ranges in which this device has given out no counter that it knows of: between its processes.
    var gaps: [ClosedRange<UInt64>] = []

    /// The most gaps; the oldest are forgotten.
    private static let mostGaps = 64

    /// The highest counter of a record that this device has published or is about to.
    var lastCounter: UInt64 { max(counter, statusCounter) }

    mutating func addGap(after last: UInt64, before next: UInt64) {
        guard next > last, next - last > 1 else { return }
        gaps = (gaps + [last + 1...next - 1]).suffix(Self.mostGaps)
    }

    init() {}

    /// The version of the stored form.
    static let version: UInt8 = 1

    func encoded() -> Data {
        var writer = ByteWriter(
            .bigEndian,
            [
                Self.version, isJoining ? 1 : 0, (isRestored ? 1 : 0) | (hasPassedOver ? 2 : 0),
                position == nil ? 0 : 1,
            ])
        for number in [counter, confirmed, outdated, ended, statusCounter, forgotten, UInt64(epoch), time] {
            writer.add(number)
        }
        writer.add(UInt16(writers.count))
        for (device, state) in writers.sorted(by: { $0.key < $1.key }) {
            writer.add(device)
            writer.add(state.statusCounter)
            writer.add(state.taken)
            var status = ByteWriter(.bigEndian)
            state.status?.write(to: &status)
            writer.add(UInt32(status.bytes.count))
            writer.add(status.bytes)
        }
        writer.add(UInt16(gaps.count))
        for gap in gaps {
            writer.add(gap.lowerBound)
            writer.add(gap.upperBound)
        }
        writer.add(position ?? Data())
        writer.addHash()
        return Data(writer.bytes)
    }

    /// Decodes it; `nil` if it is damaged, or of a later version.
    init?(_ data: Data) {
        guard var reader = ByteReader(hashed: .bigEndian, data), reader.number(UInt8.self) == Self.version,
            let isJoining = reader.number(UInt8.self), let flags = reader.number(UInt8.self),
            let hasPosition = reader.number(UInt8.self)
        else { return nil }
        (self.isJoining, isRestored, hasPassedOver) = (isJoining == 1, flags & 1 == 1, flags & 2 == 2)
        for path in [\SyncProgress.counter, \.confirmed, \.outdated, \.ended, \.statusCounter, \.forgotten] {
            guard let number = reader.number(UInt64.self) else { return nil }
            self[keyPath: path] = number
        }
        guard let epoch = reader.number(UInt64.self), let time = reader.number(UInt64.self),
            let count = reader.number(UInt16.self)
        else { return nil }
        (self.epoch, self.time) = (UInt32(truncatingIfNeeded: epoch), time)
        for _ in 0..<count {
            guard let device = reader.device(), let statusCounter = reader.number(UInt64.self),
                let taken = reader.number(UInt64.self), let size = reader.number(UInt32.self),
                let bytes = reader.bytes(Int(size))
            else { return nil }
            var writer = Writer(statusCounter: statusCounter, taken: taken)
            var status = ByteReader(.bigEndian, bytes)
            if size > 0 { writer.status = SyncStatus(&status) }
            writers[device] = writer
        }
        guard let gapCount = reader.number(UInt16.self) else { return nil }
        for _ in 0..<gapCount {
            guard let first = reader.number(UInt64.self), let last = reader.number(UInt64.self), first <= last else {
                return nil
            }
            gaps.append(first...last)
        }
        let rest = Data(reader.remainder())
        position = hasPosition == 1 ? rest : nil
    }
}
