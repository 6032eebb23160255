internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// The records of each writer that this device has taken in, as digests, and those of them that end.
struct WriterTable {
    private var digests: [DeviceID: SyncDigest] = [:]
    /// Removals and releases by their counters, with their names.
    private var ending: [DeviceID: [UInt64: String]] = [:]

    /// The digest of a writer's records, without those that have ended.
    func digest(of writer: DeviceID) -> SyncDigest { digests[writer] ?? SyncDigest() }

    /// The removals and releases of a writer with counters up to one.
    func ending(of writer: DeviceID, upTo counter: UInt64) -> [(counter: UInt64, name: String)] {
        (ending[writer] ?? [:]).filter { $0.key <= counter }.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// The highest counter of a writer's removals and releases; 0 if there are none.
    func lastEnding(of writer: DeviceID) -> UInt64 { ending[writer]?.keys.max() ?? 0 }

    /// Replaces a writer's record of a name.
    mutating func replace(
        _ old: SyncEntry.Published?, with new: SyncEntry.Published?, name: String, of writer: DeviceID, ended: UInt64,
        _ group: any SyncGroup
    ) throws(StorageError) {
        guard old != new else { return }
        if let old {
            if old.kind.ends { ending[writer]?[old.counter] = nil }
            if !old.hasEnded(ended) {
                digests[writer, default: SyncDigest()].subtract(try hash(old, name, writer, group))
            }
        }
        if let new {
            if new.kind.ends { ending[writer, default: [:]][new.counter] = name }
            if !new.hasEnded(ended) { digests[writer, default: SyncDigest()].add(try hash(new, name, writer, group)) }
        }
    }

    /// Takes out of the digest what ends with a higher counter.
    mutating func end(
        of writer: DeviceID, after old: UInt64, upTo new: UInt64, _ entries: [String: SyncEntry], _ group: any SyncGroup
    ) throws(StorageError) {
        for (counter, name) in ending(of: writer, upTo: new) where counter > old {
            guard let record = entries[name]?.published[writer] else { continue }
            digests[writer, default: SyncDigest()].subtract(try hash(record, name, writer, group))
        }
    }

    /// Puts back into the digest what had ended, since nobody knows any more that it has.
    mutating func forgetEnd(
        of writer: DeviceID, upTo counter: UInt64, _ entries: [String: SyncEntry], _ group: any SyncGroup
    ) throws(StorageError) {
        for (_, name) in ending(of: writer, upTo: counter) {
            guard let record = entries[name]?.published[writer] else { continue }
            digests[writer, default: SyncDigest()].add(try hash(record, name, writer, group))
        }
    }

    private func hash(
        _ record: SyncEntry.Published, _ name: String, _ writer: DeviceID, _ group: any SyncGroup
    ) throws(StorageError) -> SyncHash {
        var bytes = ByteWriter(.bigEndian)
        bytes.add(writer)
        bytes.add(record.counter)
        bytes.add(record.kind.rawValue)
        bytes.add(name.utf8)
        return try group.hash(Data(bytes.bytes))
    }
}

extension SyncEntry.Published {
    /// Whether it is a removal or release that every member has taken in.
    func hasEnded(_ ended: UInt64) -> Bool { kind.ends && counter <= ended }
}
