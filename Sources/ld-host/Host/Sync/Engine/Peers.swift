/// What this device has learnt of the other members since the engine was made. It is kept in memory only: what matters
/// beyond that is in ``SyncProgress``.
struct Peers {
    /// The members when the group was last followed.
    var knownMembers: [DeviceID] = []
    /// The number of keys that the group had then.
    var knownKeyCount = 0
    /// Whether a status that has come shows that its writer does not know this device.
    var isUnknownToOne = false
    /// Writers whose records were not those of their status after the latest pull, with what was here of them.
    private(set) var incomplete: [DeviceID: SyncDigest] = [:]
    /// How many pulls in a row have not changed that.
    private(set) var vainPulls = 0
    /// How many pulls in a row have found that records about the group are lacking.
    private var lackingPulls = 0
    /// What members knew of this device when they said that they lack records of it, for the last time.
    private var answered: [DeviceID: SyncStatus.Known] = [:]

    /// Notes which writers' records are not complete after a pull.
    ///
    /// - Returns: Whether nothing has come that changed that, after 1, 2, 4, 8 and so on pulls.
    mutating func isStuck(with now: [DeviceID: SyncDigest]) -> Bool {
        defer { incomplete = now }
        guard !now.isEmpty, now == incomplete else {
            vainPulls = 0
            return false
        }
        vainPulls += 1
        return vainPulls & (vainPulls - 1) == 0
    }

    /// Notes after a pull whether records about the group are lacking.
    ///
    /// - Returns: Whether they are, after 1, 2, 4, 8 and so on pulls, for nobody may have them any more.
    mutating func isStuck(lackingGroup: Bool) -> Bool {
        lackingPulls = lackingGroup ? lackingPulls + 1 : 0
        return lackingPulls > 0 && lackingPulls & (lackingPulls - 1) == 0
    }

    /// Notes that a member lacks records of this device.
    ///
    /// - Returns: Whether it has not said so before, knowing the same.
    mutating func answer(_ writer: DeviceID, _ known: SyncStatus.Known) -> Bool {
        guard answered[writer] != known else { return false }
        answered[writer] = known
        return true
    }
}
