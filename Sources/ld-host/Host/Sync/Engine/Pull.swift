/// What one pull has found so far. A new one begins with each pull.
struct Pull {
    /// The records that it has seen, if it began at the beginning.
    var seen: Set<SeenRecord>?
    /// Own values that it has found on the transport, and that this device had replaced or removed.
    var ghosts: [String: SyncEngine.Ghost] = [:]
    /// The writers of records that are no members, as far as this device knew when it read them.
    var strangers: [DeviceID] = []

    struct SeenRecord: Hashable {
        let writer: DeviceID
        let name: String
    }

    /// Notes a record that is on the transport.
    mutating func see(_ name: String, of writer: DeviceID) { seen?.insert(SeenRecord(writer: writer, name: name)) }

    /// Notes the writer of a record who is no member.
    ///
    /// - Returns: Whether there was room for it.
    mutating func note(stranger writer: DeviceID, atMost limit: Int) -> Bool {
        guard strangers.count < limit else { return false }
        strangers.append(writer)
        return true
    }
}
