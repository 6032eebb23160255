package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// The log of a sync group: a set of signed entries, which say who is a member and which keys are in use.
///
/// Entries arrive in any order and any number of times. One whose parents are missing waits for them. What the entries
/// say together, ``state``, depends on their set alone: see ``GroupVerdicts`` for the rules, ``GroupEntry`` and
/// ``PublishedEntry`` for the form.
///
/// An entry that its author did not sign, that another group made, or that breaks the form is refused, and never
/// counts. One that its author had no right to make is *void*: no entry names it as a parent, and it is not kept. Kept
/// are those of ``owner``, those that a valid one comes after, one join in vain under each invitation, and, if members
/// remove each other in a circle, one removal of each by each. Some more void ones are in memory only, for an entry
/// that arrives soon may show that they count; see ``lacksParents`` for one that arrives later. So a device that was
/// removed adds nothing that lasts.
///
/// Adding entries takes a time that grows with their number only, as long as the log does not grow.
package struct GroupLog: Sendable {
    /// The most entries that are kept.
    package static let mostEntries = 4096
    /// The most entries that wait for parents.
    package static let mostWaiting = 1024
    /// The most of them that no member has made.
    static let mostStrangersWaiting = 512
    /// The most void entries in memory beside those that are kept.
    static let mostVoid = 256
    /// How many entries are added before it is decided which of them count.
    private static let batch = 256
    /// The number of the most senior members that acknowledge what others have done: a few witnesses are enough, and
    /// in a group of many devices, acknowledgements by all of them would soon fill the log.
    static let witnesses = 9

    /// The group's id.
    package let group: EntryID
    /// The device whose log this is: its own entries are kept, whatever they count for.
    package var owner: DeviceID?
    /// A rule that a test leaves out.
    var leavesOut: GroupRule?
    /// What the entries say together.
    package private(set) var state: GroupState
    /// How many entries were refused since the log was opened.
    package private(set) var refused = 0

    package private(set) var graph = GroupGraph()
    let crypto: GroupCrypto
    let logKey: SecretBytes
    private(set) var valid = NumberSet()
    /// The valid joins that a member from before their invitations has taken in.
    private(set) var takenIn = NumberSet()
    private var kept = NumberSet()
    private var keptCount = 0
    private var published = PublishedForms()
    private var waiting: [EntryID: GroupEntry] = [:]
    /// Entries that are not added for now.
    var heldBack: Set<EntryID> = []

    /// An empty log, to which entries are added.
    package init(of keys: GroupKeys, _ crypto: GroupCrypto) { self.init(of: keys.group, logKey: keys.logKey, crypto) }

    init(of group: EntryID, logKey: SecretBytes, _ crypto: GroupCrypto) {
        self.group = group
        self.logKey = logKey
        self.crypto = crypto
        state = GroupState(of: graph, GroupVerdicts(of: graph), group: group)
    }

    /// All entries that are kept in their published form: first those that are in effect or void, each behind its
    /// parents, then those that wait.
    package var entries: [Data] {
        let removed = Set(state.removed.map(\.id))
        let waiting = waiting.filter { !removed.contains($0.value.author) || isAwaited($0.value) }
        return identified.map(\.published) + waiting.keys.sorted().compactMap { published[$0] }
    }

    /// The entries that are kept and do not wait in their published form, with their ids.
    package var identified: [(id: EntryID, published: Data)] {
        graph.order.filter { kept.contains($0) }.map { graph.entries[$0].id }.compactMap { id in
            published[id].map { (id, $0) }
        }
    }

    /// The entries that count and that no other one that counts comes after, those that know the most first: the
    /// parents of the next entry.
    var heads: [EntryID] { graph.heads(of: valid) }

    /// How many entries wait for parents.
    package var waitingCount: Int { waiting.count }

    /// Whether the parents of an entry are missing that a member has made, or somebody with the recovery code: they
    /// were not kept, since they did not count yet.
    package var lacksParents: Bool { waiting.values.contains { isAwaited($0) } }

    private func isAwaited(_ entry: GroupEntry) -> Bool { entry.isWithCode || state.member(entry.author) != nil }

    /// Whether a device has to acknowledge what others have done: then they can show that it knew. Also those that are
    /// not so senior say that they have taken in a join, if nobody has said it yet.
    package func owesAcknowledgement(_ device: DeviceID) -> Bool {
        guard state.members.count > 1, state.member(device) != nil else { return false }
        let isWitness = state.members.prefix(Self.witnesses).contains { $0.id == device }
        let own = valid.reduce(into: NumberSet()) { if graph.entries[$1].author == device { $0.insert($1) } }
        let known = graph.closure(of: own)
        return valid.contains { number in
            let entry = graph.entries[number]
            return entry.changesMembers && entry.author != device && !known.contains(number)
                && (isWitness || entry.profile != nil && !takenIn.contains(number))
        }
    }

    /// Adds a published entry. One that is already there changes nothing.
    ///
    /// - Returns: Whether it is new.
    /// - Throws: `cannotOpen` if another group made it, or its author did not sign it; `corrupt` if it has another
    ///   form; `valueTooLarge` if the log is full. ``refused`` counts these.
    @discardableResult
    package mutating func add(_ entry: Data) throws(StorageError) -> Bool {
        let isNew = try insert(entry)
        if isNew { decide() }
        return isNew
    }

    /// Adds many entries. Those that ``add(_:)`` would refuse are left out; ``refused`` counts them.
    ///
    /// - Returns: How many are new.
    @discardableResult
    package mutating func add(contentsOf entries: some Sequence<Data>) -> Int {
        var (added, undecided) = (0, 0)
        for entry in entries where (try? insert(entry)) == true {
            added += 1
            undecided += 1
            if undecided == Self.batch {
                decide()
                undecided = 0
            }
        }
        if undecided > 0 { decide() }
        return added
    }

    /// Adds all entries that a reading brings, as many as there are: those that do not count fill neither the log nor
    /// the memory.
    package mutating func add(reading read: Reading) throws(StorageError) {
        var batch: [Data] = []
        // Each member publishes all of them.
        var known: Set<Data> = []
        try read { entry in
            if known.count >= Self.mostEntries { known = [] }
            guard known.insert(entry).inserted else { return true }
            batch.append(entry)
            if batch.count == Self.batch {
                add(contentsOf: batch)
                batch = []
            }
            return true
        }
        add(contentsOf: batch)
    }

    /// Seals signed bytes and adds them as an entry of this device.
    ///
    /// - Returns: The published entry.
    mutating func publish(
        _ signed: Data, invitation: PublishedEntry.InvitationBox? = nil
    ) throws(StorageError) -> Data {
        let entry = try PublishedEntry.sealing(signed, with: logKey, invitation: invitation, crypto)
        try add(entry)
        return entry
    }

    /// The log as it would be without what a device has said of another one, and without what came of that.
    func without(removalsOf device: DeviceID, by author: DeviceID) -> GroupLog {
        var copy = self
        let gone = graph.entries.indices.filter { number in
            if graph.entries[number].author == author, case .remove(device, _, _) = graph.entries[number].body {
                true
            } else {
                false
            }
        }
        let rest = graph.entries.indices.reduce(into: NumberSet()) { rest, number in
            if !gone.contains(where: { $0 == number || graph.comes($0, before: number) }) { rest.insert(number) }
        }
        copy.graph = graph.keeping(rest)
        copy.decide()
        return copy
    }
}

// MARK: - Deciding

extension GroupLog {
    /// Decides which entries count, and discards void ones if there are many.
    private mutating func decide() {
        settle()
        guard graph.entries.count - keptCount > Self.mostVoid else { return }
        for number in graph.entries.indices where !kept.contains(number) { published[graph.entries[number].id] = nil }
        graph = graph.keeping(kept)
        settle()
    }

    private mutating func settle() {
        let verdicts = GroupVerdicts(of: graph, leavingOut: leavesOut)
        state = GroupState(of: graph, verdicts, group: group)
        (valid, takenIn) = (NumberSet(), NumberSet())
        var needed = NumberSet()
        for number in graph.entries.indices {
            if verdicts.isValid(number) || leavesOut == .voidIsDiscarded { valid.insert(number) }
            if verdicts.isValid(number), case .join(let invite, _) = graph.entries[number].body,
                let invite = graph.number(of: invite), verdicts.isTakenIn(number, under: invite)
            {
                takenIn.insert(number)
            }
            if graph.entries[number].author == owner { needed.insert(number) }
        }
        kept = graph.closure(of: valid.union(needed))
        keepJoinsInVain(verdicts)
        if verdicts.isDisputed || !verdicts.pardoned.isEmpty { keepDisputed(verdicts) }
        keptCount = kept.reduce(into: 0) { count, _ in count += 1 }
    }

    /// Keeps a join that does not count under each invite that does: a sign that somebody else may have the key.
    private mutating func keepJoinsInVain(_ verdicts: GroupVerdicts) {
        let (members, lasting) = (Set(verdicts.members), verdicts.lasting)
        var invites: Set<EntryID> = []
        for number in verdicts.order where !kept.contains(number) && graph.isClosed(lasting, before: number) {
            let entry = graph.entries[number]
            guard case .join(let invite, _) = entry.body, !members.contains(entry.author),
                let place = graph.number(of: invite), verdicts.isValid(place), invites.insert(invite).inserted
            else { continue }
            kept.insert(number)
        }
    }

    /// Keeps removals that do not count, and that others may depend on in a circle: one of each member by each other.
    /// What is kept always says what all entries say.
    private mutating func keepDisputed(_ verdicts: GroupVerdicts) {
        struct Pair: Hashable {
            let (author, device): (DeviceID, DeviceID)
        }
        let (least, joined) = (kept, Set(verdicts.joined))
        var removals: Set<Pair> = []
        for number in verdicts.order where !kept.contains(number) && graph.isClosed(kept, before: number) {
            let author = graph.entries[number].author
            guard case .remove(let device, _, _) = graph.entries[number].body, joined.contains(author),
                joined.contains(device), removals.insert(Pair(author: author, device: device)).inserted
            else { continue }
            kept.insert(number)
        }
        if !isEnough(kept) { kept = least }
        if !isEnough(kept) { for number in graph.entries.indices { kept.insert(number) } }
    }

    private func isEnough(_ kept: NumberSet) -> Bool {
        let graph = graph.keeping(kept)
        return GroupState(of: graph, GroupVerdicts(of: graph, leavingOut: leavesOut), group: group) == state
    }
}

// MARK: - Adding

extension GroupLog {
    private mutating func insert(_ bytes: Data) throws(StorageError) -> Bool {
        // Every member publishes all entries, again and again: what is known is not opened.
        guard !published.contains(bytes) else { return false }
        do throws(StorageError) {
            let entry = try PublishedEntry(bytes).opened(with: logKey, of: group, crypto)
            guard published[entry.id] == nil, !heldBack.contains(entry.id) else { return false }
            if entry.parents.allSatisfy({ graph.number(of: $0) != nil }) {
                guard keptCount < Self.mostEntries else { throw full }
                try GroupCheck(entry, in: graph, crypto).check()
                graph.add(entry)
                published[entry.id] = bytes
                connectWaiting()
            } else {
                if entry.isWithCode, !graph.entries.isEmpty {
                    try GroupCheck(entry, in: graph, crypto).checkRecovery()
                }
                try makeRoom(for: entry)
                waiting[entry.id] = entry
                published[entry.id] = bytes
            }
            return true
        } catch {
            refused += 1
            throw error
        }
    }

    private var full: StorageError {
        StorageError(
            .valueTooLarge,
            "the log of the sync group is full: \(keptCount) entries, \(waiting.count) wait",
            hint: "start a new group: ld-host sync leave on every device, then ld-host sync init on one")
    }

    /// Makes room for an entry that waits. Those of members, and with the recovery code, come first.
    private mutating func makeRoom(for entry: GroupEntry) throws(StorageError) {
        if isAwaited(entry) {
            guard waiting.count >= Self.mostWaiting else { return }
            guard let stranger = waiting.values.first(where: { !isAwaited($0) }) else { throw full }
            (waiting[stranger.id], published[stranger.id]) = (nil, nil)
        } else {
            let strangers = waiting.values.count { !isAwaited($0) }
            guard strangers < Self.mostStrangersWaiting else { throw full }
        }
    }

    /// Moves entries to the graph whose parents are all there now.
    private mutating func connectWaiting() {
        func isReady(_ entry: GroupEntry) -> Bool {
            !heldBack.contains(entry.id) && entry.parents.allSatisfy { graph.number(of: $0) != nil }
        }
        while let ready = waiting.values.first(where: isReady) {
            waiting[ready.id] = nil
            do throws(StorageError) {
                try GroupCheck(ready, in: graph, crypto).check()
                graph.add(ready)
            } catch {
                published[ready.id] = nil
                refused += 1
            }
        }
    }
}

/// The published form of each entry, as it arrived first.
private struct PublishedForms: Sendable {
    private var forms: [EntryID: Data] = [:]
    private var all: Set<Data> = []

    subscript(id: EntryID) -> Data? {
        get { forms[id] }
        set {
            if let old = forms[id] { all.remove(old) }
            forms[id] = newValue
            if let newValue { all.insert(newValue) }
        }
    }

    func contains(_ form: Data) -> Bool { all.contains(form) }
}
