internal import ByteCoding
internal import FoundationEssentials
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// The group that this device is in, as the engine sees it: the members' log, which the transport carries beside the
/// values' records, and the keys that follow from it. Calls may wait.
///
/// Each member publishes the entries of the log that it knows. So the log is whole again after the transport has lost
/// it, also for a device that was restored to before an entry that it made itself. What others publish already when a
/// device reads everything, it need not publish: see ``LogCopies``. Otherwise a device that often leaves and joins
/// again would leave the whole log behind each time.
final class MemberGroup: SyncGroup {
    /// What the names of the log's records begin with.
    static let recordPrefix = "log-"

    private let crypto: GroupCrypto
    private let keychain: KeychainValue
    private let page: ResolvedKey
    private var membership: SyncMembership
    private(set) var log: GroupLog {
        didSet {
            members = log.state.members.map(\.id)
            contents = nil
        }
    }
    /// The contents of the log's records by their names, once they were asked for.
    private var contents: [String: Data]?
    private var sealer: RecordSealer
    /// The names of the log's records that this device has published.
    private var published: Set<String> = []
    /// The names of those that it need not publish, since others do.
    private var carried: Set<String> = []
    /// The log's records of others that the reading which goes on has found, if it began at the beginning.
    private var copies: LogCopies?
    /// Those of them that the reading which goes on has found, if it began at the beginning.
    private var found: Set<String>?
    /// Whether nothing has changed since all that is due was published.
    private var isPublished = false
    /// Entries that have arrived and are not in the log yet.
    private var arrived: [Data] = []
    /// Whether a device is a member again whose entries may have been discarded.
    private var lacksReturned = false

    /// Whether this device was away for so long that it has to join again.
    var isForgotten: Bool { log.state.forgotten.contains { $0.id == me } }

    /// Whether there are invitations that nobody has used.
    var hasInvitations: Bool { !log.state.invitations.isEmpty }

    /// Whether this device has to publish entries of the log.
    var hasDueRecords: Bool { !isPublished && log.identified.contains { isDue(Self.name(of: $0.id)) } }

    private func isDue(_ name: String) -> Bool { !published.contains(name) && !carried.contains(name) }

    /// Opens the group that this device is in.
    ///
    /// - Parameter page: Where the log is kept.
    convenience init(
        _ membership: SyncMembership, _ crypto: GroupCrypto, keychain: KeychainValue, page: ResolvedKey
    ) throws(StorageError) {
        var log = GroupLog(of: membership.keys, crypto)
        log.owner = membership.device.id
        let kept = try page.valueNow().map { (data) throws(StorageError) in try SyncLogPage(data) } ?? SyncLogPage()
        log.add(contentsOf: kept.entries)
        try self.init(membership, log, crypto, keychain: keychain, page: page)
        (published, carried) = (kept.published, kept.carried)
    }

    /// Begins with a log that was just made.
    init(
        _ membership: SyncMembership, _ log: GroupLog, _ crypto: GroupCrypto, keychain: KeychainValue,
        page: ResolvedKey
    ) throws(StorageError) {
        (self.membership, self.log, self.crypto, self.keychain) = (membership, log, crypto, keychain)
        members = log.state.members.map(\.id)
        self.page = page
        sealer = try RecordSealer(membership.keys, epoch: log.state.epoch, crypto)
        try refreshKeys()
    }

    /// Whether the store that kept the log has lost it, or has one of before this device was in the group.
    var hasLostLog: Bool { !log.graph.entries.contains { $0.author == me } }

    /// Reads again the log that this device has lost. It is not stored yet.
    ///
    /// - Throws: `storeUnavailable` if the transport does not have all of it that this device knew.
    func recoverLog(from carrier: any SyncCarrier) throws(StorageError) {
        try log.add(reading: Self.reading(carrier))
        let epochs = Set(log.graph.entries.map(\.id.epoch))
        guard isKnown(me), membership.keys.knownEpochs.isSubset(of: epochs) else {
            throw StorageError(
                .storeUnavailable,
                "this device has lost the log of its sync group, and the transport does not have all of it",
                hint: "let another device of the group sync, and try again; or leave the group and join again")
        }
        try refreshKeys()
    }

    /// Reads the log's entries on a transport, in the order in which they come: most come behind their parents.
    private static func reading(
        _ carrier: any SyncCarrier, _ note: @escaping (SyncRecord) -> Void = { _ in }
    ) -> GroupLog.Reading {
        { (take) throws(StorageError) in
            _ = try carrier.fetch(since: nil) { record in
                guard record.name.hasPrefix(recordPrefix) else { return true }
                note(record)
                return take(record.content)
            }
        }
    }

    /// Stores log and keys durably; the log first, since the keys of later epochs follow from it.
    func save() throws(StorageError) {
        try saveLog()
        try membership.save(to: keychain)
    }

    private func saveLog() throws(StorageError) {
        isPublished = false
        try page.setNow(SyncLogPage(entries: log.entries, published: published, carried: carried).encoded())
    }

    /// Takes over the keys and the epoch that the log says.
    private func refreshKeys() throws(StorageError) {
        let known = membership.keys.knownEpochs
        membership.keys = try membership.keys.opening(log, with: membership.device)
        if membership.keys.knownEpochs != known { try membership.save(to: keychain) }
        sealer = try RecordSealer(membership.keys, epoch: log.state.epoch, crypto)
    }

    // MARK: As the engine sees it

    var me: DeviceID { membership.device.id }
    private(set) var members: [DeviceID]

    func isKnown(_ device: DeviceID) -> Bool { log.state.device(device) != nil }

    var epoch: UInt32 { log.state.epoch.mark }
    var keyCount: Int { membership.keys.knownEpochs.count }

    func name(of address: String) throws(StorageError) -> String { try sealer.name(of: address) }
    func hash(_ bytes: Data) throws(StorageError) -> SyncHash { try sealer.hash(of: bytes) }

    func seal(_ contents: [(name: String, content: Data)]) throws(StorageError) -> [Data] {
        try sealer.seal(contents, by: membership.device)
    }

    func open(_ record: SyncRecord) throws(StorageError) -> OpenedRecord {
        try sealer.opened(record, in: log.state)
    }

    /// Opens what this device has sealed for itself, under whatever epoch.
    func openOwn(_ sealed: Data, name: String) throws(StorageError) -> Data {
        try sealer.open(sealed, by: me, signingWith: membership.device.signingPublicKey, name: name).content
    }

    func take(_ record: SyncRecord) throws(StorageError) -> Bool {
        guard record.name.hasPrefix(Self.recordPrefix) else { return false }
        if record.writer == me.text { try noteOwn(record) } else { copies?.add(record) }
        arrived.append(record.content)
        return true
    }

    func settle() throws(StorageError) {
        guard !arrived.isEmpty else { return }
        let entries = arrived
        arrived = []
        let (removed, before) = (log.state.removed.map(\.id), members)
        // The log counts what it refuses.
        guard try log.take(entries, by: membership.device, at: Self.now) > 0 else { return }
        publishInstead(of: before)
        lacksReturned = lacksReturned || !Set(removed).isSubset(of: log.state.removed.map(\.id))
        try answer()
        try saveLog()
        try refreshKeys()
    }

    var lacksRecords: Bool { lacksReturned || log.lacksParents }

    func ownRecords() throws(StorageError) -> [SyncRecord] {
        log.identified.map { SyncRecord(writer: me.text, name: Self.name(of: $0.id), content: $0.published) }
    }

    /// Notes that the transport has an own record, or has another one in its place, which is then replaced.
    private func noteOwn(_ record: SyncRecord) throws(StorageError) {
        if contents == nil {
            contents = Dictionary(try ownRecords().map { ($0.name, $0.content) }) { first, _ in first }
        }
        if contents?[record.name] == record.content {
            found?.insert(record.name)
            published.insert(record.name)
        } else if published.remove(record.name) != nil {
            try saveLog()
        }
    }

    /// Publishes the whole log again: a member does not know this device, although it has published since.
    func publishAgain() throws(StorageError) {
        (published, carried) = ([], [])
        try saveLog()
    }

    func beginReading() {
        found = []
        copies = LogCopies()
        lacksReturned = false
    }

    func endReading() throws(StorageError) {
        guard let found, let copies else { return }
        self.copies = nil
        let carried = try carried(in: copies)
        guard !published.isSubset(of: found) || carried != self.carried else { return }
        // It has lost them, or this device has used another one meanwhile.
        published.formIntersection(found)
        self.carried = carried
        try saveLog()
    }

    /// Lets this device publish all that it has not, if other members are none any more.
    private func publishInstead(of before: [DeviceID]) {
        if !Set(before).subtracting([me]).isSubset(of: members) { carried = [] }
    }

    private func carried(in copies: LogCopies) throws(StorageError) -> Set<String> {
        let others = Set(log.state.members.map(\.id.text)).subtracting([me.text])
        return Set(try ownRecords().filter { copies.suffice(for: $0, from: others) }.map(\.name))
    }

    // MARK: Publishing the log

    private static func name(of entry: EntryID) -> String {
        recordPrefix + entry.bytes.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Publishes the entries that this device has to publish and has not.
    func publish(to carrier: any SyncCarrier) throws(StorageError) {
        if isPublished { return }
        let records = try ownRecords().filter { isDue($0.name) }
        if !records.isEmpty {
            try carrier.publish(records)
            published.formUnion(records.map(\.name))
            try saveLog()
        }
        isPublished = true
    }
}

// What members do.
extension MemberGroup {
    /// Milliseconds since 1970 UTC.
    private static var now: UInt64 { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }

    /// Invites a device, for some seconds.
    func invite(for seconds: Int) throws(StorageError) -> Invitation {
        let invitation = try log.invite(
            by: membership.device, with: membership.keys, until: Self.now + UInt64(seconds) * 1000, at: Self.now
        ).invitation
        try saveLog()
        return invitation
    }

    /// Removes a member, and begins an epoch that it cannot read. If it cannot be published, it is as if nothing had
    /// been done: nobody else would know of it, and the member may go on for long.
    func remove(
        _ device: DeviceID, with code: RecoveryCode?, by carrier: any SyncCarrier
    ) throws(StorageError) {
        try publish(to: carrier) { (log, me) throws(StorageError) in
            _ = try log.remove(device, by: me, at: Self.now, with: code)
        }
        try refreshKeys()
    }

    /// Publishes that this device leaves. If that fails, the device is a member as before: nothing was stored.
    func leave(by carrier: any SyncCarrier) throws(StorageError) {
        try publish(to: carrier) { (log, me) throws(StorageError) in
            _ = try log.remove(me.id, by: me, at: Self.now)
        }
    }

    /// Ends all invitations that this device knows: their codes do not open what is published from now on, and let
    /// nobody join. If it cannot be published, they are as before.
    ///
    /// - Returns: How many have ended.
    @discardableResult
    func endInvitations(by carrier: any SyncCarrier) throws(StorageError) -> Int {
        let open = log.state.invitations.count
        try publish(to: carrier) { (log, me) throws(StorageError) in
            while !log.state.invitations.isEmpty { _ = try log.rekey(by: me, at: Self.now) { _ in true } }
        }
        try refreshKeys()
        return open
    }

    /// Changes the log and publishes it, or leaves it as it was.
    private func publish(
        to carrier: any SyncCarrier, _ change: (inout GroupLog, DeviceKeys) throws(StorageError) -> Void
    ) throws(StorageError) {
        let before = (log: log, isPublished: isPublished, carried: carried)
        do throws(StorageError) {
            try change(&log, membership.device)
            isPublished = false
            publishInstead(of: before.log.state.members.map(\.id))
            try publish(to: carrier)
        } catch {
            (log, isPublished, carried) = before
            throw error
        }
    }

    /// Says that a member has been away for too long.
    func forget(_ device: DeviceID) throws(StorageError) {
        let before = members
        _ = try log.forget(device, by: membership.device, at: Self.now)
        publishInstead(of: before)
        try saveLog()
    }

    /// Whether a new epoch is due before this device publishes anything.
    var owesEpoch: Bool { log.owesEpoch(me, at: Self.now) }

    /// Does what a member does when others have changed the group, or an invitation's time is over: begins a new epoch
    /// if somebody else may have the current one's key, before anything is sealed with it, and acknowledges.
    func takePart() throws(StorageError) {
        guard try answer() else { return }
        try saveLog()
        try refreshKeys()
    }

    /// - Returns: Whether the log has changed.
    @discardableResult
    private func answer() throws(StorageError) -> Bool {
        guard log.state.member(me) != nil else { return false }
        let isRekeyed = try log.renew(by: membership.device, at: Self.now)
        let isOwed = log.owesAcknowledgement(me)
        if isOwed { _ = try log.acknowledge(by: membership.device, at: Self.now) }
        return isRekeyed || isOwed
    }

    /// Creates a group with this device as its only member. Nothing stores the recovery code.
    static func creating(
        named name: String, role: DeviceRole, _ crypto: GroupCrypto, keychain: KeychainValue, page: ResolvedKey
    ) throws(StorageError) -> (group: MemberGroup, code: RecoveryCode) {
        let device = try DeviceKeys(creatingWith: crypto)
        let (log, keys, code) = try GroupLog.creating(by: device, named: name, role: role, at: now, crypto)
        let group = try MemberGroup(
            SyncMembership(device: device, keys: keys), log, crypto, keychain: keychain, page: page)
        return (group, code)
    }

    /// Joins a group, whose log a transport carries, as a new device.
    ///
    /// - Throws: `notFound` if there is no such invitation; `cannotOpen` if it has ended.
    static func joining(
        by invitation: Invitation, named name: String, role: DeviceRole, _ carrier: any SyncCarrier,
        _ crypto: GroupCrypto, keychain: KeychainValue, page: ResolvedKey
    ) throws(StorageError) -> MemberGroup {
        let device = try DeviceKeys(creatingWith: crypto)
        var copies = LogCopies()
        let (log, keys, _) = try GroupLog.joining(
            by: invitation, as: device, named: name, role: role, at: now, crypto,
            reading: reading(carrier) { copies.add($0) })
        let group = try MemberGroup(
            SyncMembership(device: device, keys: keys), log, crypto, keychain: keychain, page: page)
        group.carried = try group.carried(in: copies)
        return group
    }
}

/// The copies of the log's records that a reading of all that a transport has has found.
private struct LogCopies {
    private struct Copy: Hashable {
        let writer: String
        let content: UInt64
    }

    private var copies: [String: Set<Copy>] = [:]

    mutating func add(_ record: SyncRecord) { copies[record.name, default: []].insert(Self.copy(of: record)) }

    /// Whether a record need not be published once more: two other devices have published it as it is, one of them a
    /// member, who publishes it again if the transport loses it.
    func suffice(for record: SyncRecord, from members: Set<String>) -> Bool {
        let content = Self.copy(of: record).content
        let same = (copies[record.name] ?? []).filter { $0.content == content }
        return same.count > 1 && same.contains { members.contains($0.writer) }
    }

    private static func copy(of record: SyncRecord) -> Copy {
        Copy(writer: record.writer, content: record.content.withUnsafeBytes { StableHash.of($0) })
    }
}
