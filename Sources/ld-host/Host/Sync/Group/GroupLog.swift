package import FoundationEssentials
package import LocalDataAPI

/// The log of a sync group: a set of signed entries, which say who is a member and which keys are in use.
///
/// Entries arrive in any order and any number of times. One whose parents are missing waits for them. What the entries
/// say together, ``state``, depends on their set alone: see ``GroupVerdicts`` for the rules, ``GroupEntry`` and
/// ``PublishedEntry`` for the form.
///
/// An entry that its author did not sign, that another group made, or that breaks the form is refused, and never
/// counts. One that its author had no right to make is kept, for an entry that arrives later may show that it had; it
/// just has no effect. A device that was removed can so add entries without effect, until the log is full: fetch
/// entries of members only.
package struct GroupLog: Sendable {
    /// The most entries, with those that wait.
    package static let mostEntries = 4096
    /// The most entries that wait for parents.
    package static let mostWaiting = 1024

    /// The group's id.
    package let group: EntryID
    /// What the entries say together.
    package private(set) var state: GroupState
    /// How many entries were refused since the log was opened.
    package private(set) var refused = 0

    private(set) var graph = GroupGraph()
    let crypto: GroupCrypto
    private let logKey: SecretBytes
    /// The published form of each entry, as it arrived first.
    private var published: [EntryID: Data] = [:]
    private var waiting: [EntryID: GroupEntry] = [:]

    /// An empty log, to which entries are added.
    package init(of keys: GroupKeys, _ crypto: GroupCrypto) { self.init(of: keys.group, logKey: keys.logKey, crypto) }

    init(of group: EntryID, logKey: SecretBytes, _ crypto: GroupCrypto) {
        self.group = group
        self.logKey = logKey
        self.crypto = crypto
        state = GroupState(of: graph, group: group)
    }

    /// All entries in their published form: first those that are in effect or void, each behind its parents, then
    /// those that wait.
    package var entries: [Data] {
        let ids = graph.order.map { graph.entries[$0].id } + waiting.keys.sorted()
        return ids.compactMap { published[$0] }
    }

    /// The entries that are in effect or void in their published form, with their ids.
    package var identified: [(id: EntryID, published: Data)] {
        graph.order.map { graph.entries[$0].id }.compactMap { id in published[id].map { (id, $0) } }
    }

    /// How many entries wait for parents.
    package var waitingCount: Int { waiting.count }

    /// Adds a published entry. One that is already there changes nothing.
    ///
    /// - Returns: Whether it is new.
    /// - Throws: `cannotOpen` if another group made it, or its author did not sign it; `corrupt` if it has another
    ///   form; `valueTooLarge` if the log is full. ``refused`` counts these.
    @discardableResult
    package mutating func add(_ entry: Data) throws(StorageError) -> Bool {
        let isNew = try insert(entry)
        if isNew { state = GroupState(of: graph, group: group) }
        return isNew
    }

    /// Adds many entries. Those that ``add(_:)`` would refuse are left out; ``refused`` counts them.
    ///
    /// - Returns: How many are new.
    @discardableResult
    package mutating func add(contentsOf entries: some Sequence<Data>) -> Int {
        var added = 0
        for entry in entries where (try? insert(entry)) == true { added += 1 }
        if added > 0 { state = GroupState(of: graph, group: group) }
        return added
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
}

// MARK: - Adding

extension GroupLog {
    private mutating func insert(_ bytes: Data) throws(StorageError) -> Bool {
        do throws(StorageError) {
            let entry = try PublishedEntry(bytes).opened(with: logKey, of: group, crypto)
            guard published[entry.id] == nil else { return false }
            let isReady = entry.parents.allSatisfy { graph.number(of: $0) != nil }
            guard published.count < Self.mostEntries, isReady || waiting.count < Self.mostWaiting else {
                throw StorageError(
                    .valueTooLarge,
                    "the log of the sync group is full: \(published.count) entries, \(waiting.count) wait",
                    hint: "start a new group: ld-host sync leave on every device, then ld-host sync init on one")
            }
            if isReady {
                try GroupCheck(entry, in: graph, crypto).check()
                graph.add(entry)
            } else {
                waiting[entry.id] = entry
            }
            published[entry.id] = bytes
            if isReady { connectWaiting() }
            return true
        } catch {
            refused += 1
            throw error
        }
    }

    /// Moves entries to the graph whose parents are all there now.
    private mutating func connectWaiting() {
        while let ready = waiting.values.first(where: { $0.parents.allSatisfy { graph.number(of: $0) != nil } }) {
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
