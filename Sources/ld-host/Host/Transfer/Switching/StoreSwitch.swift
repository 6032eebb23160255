internal import FoundationEssentials
package import HostGround
internal import HostMigration
internal import HostPlugins
package import HostStores
package import LocalDataAPI

/// Lets another store serve some domains while programs go on using them.
///
/// The order of steps: let all writers note what they change; copy every value; copy what was noted, until that is
/// little; hold the writers, and copy the rest; change the line of configuration; let the writers go on, who follow it;
/// remove the values from the former store. Readers are never held: until the line is changed the former store is
/// right, and afterwards the new one; a read that misses a value in the former one looks at the line again.
///
/// Killed before the line is changed, it is undone, and after that it is finished, by the next program that opens the
/// router. Every call may wait.
package struct StoreSwitch {
    private let snapshot: RouterSnapshot
    private var parts: [SwitchedPart]
    private let progress: @Sendable (StepProgress) -> Void
    package private(set) var report: StoreSwitchReport

    /// How long writers that note nothing yet may need to end.
    static let patience = Duration.seconds(30)
    /// So few changes are brought over while writers are held.
    private static let few = 16
    /// How often changes are followed before that, at most.
    private static let rounds = 20

    /// - Parameter destination: The store to switch to.
    package init(
        _ snapshot: RouterSnapshot, _ domains: [String], to destination: OpenStore,
        progress: @escaping @Sendable (StepProgress) -> Void
    ) throws(StorageError) {
        self.snapshot = snapshot
        self.progress = progress
        var served: [String: [String]] = [:]
        for domain in domains {
            guard let store = snapshot.settings.routes[domain]?.store.name, store != destination.name else { continue }
            served[store, default: []].append(domain)
        }
        var parts: [SwitchedPart] = []
        for (name, domains) in served.sorted(by: { $0.key < $1.key }) {
            let source = try snapshot.slotOrComponent(name).openIfNeeded()
            parts.append(try SwitchedPart(snapshot, from: source, to: destination, domains: domains.sorted()))
        }
        self.parts = parts
        report = StoreSwitchReport(
            to: destination.name,
            parts: parts.map { StoreSwitchReport.Part(from: $0.copy.source.name, domains: $0.copy.domains) })
    }

    /// Whether the store serves all of the domains already.
    package var isDone: Bool { parts.isEmpty }

    /// Refuses what cannot be switched while programs run.
    ///
    /// - Parameter unsealing: Whether the destination may keep values plain that a source seals.
    /// - Throws: `unsupported`, `securityApplicationFailed`.
    package func check(unsealing: Bool) throws(StorageError) {
        for part in parts {
            let (source, destination, domains) = (part.copy.source, part.copy.destination, part.copy.domains)
            for open in [source, destination] {
                guard open.store.abilities.enumeration != nil else {
                    throw StorageError(
                        .unsupported, "store '\(open.name)' cannot list its values",
                        hint: "copy each value with ld-host get and ld-host set")
                }
                guard !open.isGoneWithProcess else {
                    throw StorageError(
                        .unsupported, "store '\(open.name)' keeps values only while a program runs",
                        hint: "change the line: ld-host config set domains.\(domains[0]) \(destination.name)")
                }
            }
            let isShared = part.copy.shared.keys.contains { domains.contains($0.domain) }
            guard !source.keepsSameValues(as: destination), !isShared else {
                throw StorageError(
                    .unsupported,
                    "stores '\(source.name)' and '\(destination.name)' keep values of '\(domains[0])' in the same place",
                    hint: "end the programs, and run: \(Self.copying(part)) --move")
            }
            guard !domains.contains("keychain") else {
                throw StorageError(
                    .unsupported, "'keychain' has the keys that other values are sealed with",
                    hint: "end the programs, and run: \(Self.copying(part))")
            }
            guard unsealing || !source.isKeychain || destination.isKeychain else {
                throw StorageError(
                    .securityApplicationFailed,
                    "store '\(destination.name)' would keep values plain that '\(source.name)' seals",
                    hint: "name a store that seals its values; or agree to it with --unseal")
            }
        }
    }

    /// The command that copies the domains, and nothing that the store has of others.
    private static func copying(_ part: SwitchedPart, back isBack: Bool = false) -> String {
        let stores = [part.copy.source.name, part.copy.destination.name]
        let domains = part.copy.domains.map { " --domain \($0)" }.joined()
        return "ld-host store copy " + (isBack ? stores.reversed() : stores).joined(separator: " ") + domains
    }

    /// Refuses stores of which one may have what a copy has moved out of the other.
    private func refuseInterruptedCopies() throws(StorageError) {
        for part in parts {
            let (from, to) = (part.copy.source.name, part.copy.destination.name)
            guard
                let copy = try CopyIntent.pending(between: from, and: to, folder: snapshot.settings.folders.journal)
            else { continue }
            throw StorageError(
                .busy, "\(copy.subject) was interrupted, and is not complete",
                hint: "complete it first: \(CopyIntent.command(copy)); or give it up: "
                    + CopyIntent.command(copy, givingUp: true))
        }
    }

    /// Refuses a destination that has values which are not copies of a switch.
    ///
    /// - Parameter pending: Whether another switch may be on its way to the destination.
    private func refuseOthers(pending: Bool) throws(StorageError) {
        let settings = snapshot.settings
        let history = RouteHistory(settings.folders)
        let (former, acknowledged) = (history.formerRoutes, history.acknowledged)
        for part in parts {
            let name = part.copy.destination.name
            let others = part.copy.domains.filter { domain in
                !acknowledged.contains(RouteHistory.Left(store: name, domain: domain))
                    && !(pending && SwitchIntent.stores(of: domain, settings).contains(name))
            }
            let there = try part.arrived().filter { others.contains($0.place.domain) }
            guard let first = there.first else { continue }
            let has = "store '\(name)' has \(there.count.counted("value")) of the domains already, such as '\(first)'"
            guard former[first.place.domain]?.contains(name) == true else {
                throw StorageError(
                    .conflict, "\(has), and never served them here",
                    hint: "--overwrite replaces and removes them")
            }
            throw StorageError(
                .conflict, "\(has), left from when it served them",
                hint: "move them first: \(Self.copying(part, back: true)) --move; or --overwrite replaces and "
                    + "removes them")
        }
    }

    /// Counts what would be copied and removed.
    ///
    /// - Throws: `conflict` if the destination has other values, and is not `overwriting` them.
    package mutating func plan(keepingSource: Bool, overwriting: Bool) throws(StorageError) {
        try refuseInterruptedCopies()
        if !overwriting { try refuseOthers(pending: true) }
        for (index, part) in parts.enumerated() {
            report.parts[index].copied = try part.copy.addresses().count { part.copy.domains.contains($0.place.domain) }
            report.parts[index].removed = keepingSource ? 0 : report.parts[index].copied
        }
    }

    /// Switches.
    ///
    /// - Parameters:
    ///   - overwriting: Whether the values that the destination has of the domains may be lost.
    ///   - limit: How long writers may be held.
    ///   - commit: Changes the line of configuration, whose file nobody else changes meanwhile. Calls its argument,
    ///     which brings the values over, right before that.
    ///   - isCommitted: Whether the line is changed; `nil` if that cannot be found out.
    ///   - current: The snapshot for what the configuration says now.
    /// - Throws: `busy` if others switch, or writers do not end in time; `conflict` if the destination has values of
    ///   others; the error of a failed step. Then nothing has changed, or the message says that only the removal of the
    ///   former values failed.
    package mutating func run(
        keepingSource: Bool, overwriting: Bool, holdingAtMost limit: Duration,
        _ commit: (_ bring: () throws(StorageError) -> Void) throws(StorageError) -> Void, isCommitted: () -> Bool?,
        current: () throws(StorageError) -> RouterSnapshot
    ) throws(StorageError) {
        let gate = SwitchGate.ofUser
        guard gate.isShared else {
            throw StorageError(
                .unsupported, "programs of this user share no memory, through which a switch holds their writers",
                hint: "mount a file system on /dev/shm that this user can write to")
        }
        var stores: Set<UInt64> = []
        let keeper = try keep(gate, &stores)
        // Nobody else switches until this has removed the former values.
        defer { keeper.open() }
        try Self.settleInterrupted(try current(), stores)
        var entry = SwitchIntent(
            parts: report.parts.map { ($0.from, $0.domains) }, to: report.to, keepsSource: keepingSource)
        var (begun, isDecided) = (Intent?.none, false)
        do throws(StorageError) {
            var began = ContinuousClock.now
            try commit { () throws(StorageError) in
                // Not earlier: a switch that others were making meanwhile has values there, too.
                try refuseInterruptedCopies()
                if !overwriting { try refuseOthers(pending: false) }
                let intent = try IntentJournal(folder: snapshot.settings.folders.journal).begin(
                    kind: SwitchIntent.kind, subject: entry.subject, payload: try entry.encoded())
                begun = intent
                var log = try ChangeLog.ofUser.begin()
                try keeper.track(within: Self.patience)
                try removeFormer()
                try copyAll()
                try follow(&log, keeper)
                // Before the gate is closed: the process that has it changes stores.
                try SyncDevice.lock(snapshot.settings.folders).exclusive { (_) throws(StorageError) in
                    began = .now
                    try keeper.close(within: limit)
                    try keeper.working { () throws(StorageError) in
                        // What a killed program had decided belongs to the former stores.
                        BatchRecovery(snapshot: snapshot).recoverAndSettle()
                        try bring(try log.next())
                        try noteMoves()
                        for (index, part) in parts.enumerated() { entry.parts[index].latest = part.latest }
                        try intent.update(payload: try entry.encoded())
                    }
                }
                guard ContinuousClock.now - began < limit else {
                    throw StorageError(
                        .busy,
                        "the last changes could not be brought over within \(limit), as long as writers may be held; "
                            + "nothing was changed", hint: "try again, or hold them longer, with --hold")
                }
                isDecided = true
            }
            keeper.open()
            let held = (ContinuousClock.now - began).components
            report.heldMilliseconds = Double(held.seconds) * 1e3 + Double(held.attoseconds) / 1e15
        } catch {
            keeper.open()
            // Otherwise the destination may serve by now, and has others' values.
            guard let begun else { throw error }
            // If it is not known whether the line was written, the next program looks.
            guard !isDecided || isCommitted() == false, (try? undo()) != nil else { throw error }
            // What a store has refused may be there once it is opened again: SQLite's log keeps a change that could
            // not be synchronized. The next program looks for it.
            if Self.leavesNothing(error) { try? begun.finish() }
            throw error
        }
        if keepingSource {
            let history = RouteHistory(snapshot.settings.folders)
            for part in parts { try history.acknowledge(part.copy.domains, in: part.copy.source.name) }
        } else {
            do throws(StorageError) { try removeSources(entry) } catch {
                throw StorageError(
                    error.code,
                    "'\(report.to)' serves the domains now, but the former values are not all removed: "
                        + error.message, hint: "the next command removes the rest; see: ld-host doctor")
            }
        }
        try begun?.finish()
    }

    /// Takes the gate for the stores of this switch and of those that were interrupted, which have to be settled first.
    private func keep(_ gate: SwitchGate, _ stores: inout Set<UInt64>) throws(StorageError) -> SwitchGate.Keeper {
        let folders = snapshot.settings.folders
        let journal = try IntentJournal(folder: folders.journal)
        while true {
            stores = Set(parts.flatMap(\.stores)).union(try Self.interrupted(journal, snapshot))
            let keeper = try gate.keep(GatedStores(stores), in: folders.state, within: Self.patience)
            // Another one may have been killed while this waited.
            do throws(StorageError) {
                if stores.isSuperset(of: try Self.interrupted(journal, snapshot)) { return keeper }
            } catch {
                keeper.open()
                throw error
            }
            keeper.open()
        }
    }

    /// Whether an error does not come from a change of a store.
    private static func leavesNothing(_ error: StorageError) -> Bool {
        [.busy, .conflict, .cancelled, .unsupported, .invalidConfiguration].contains(error.code)
    }

    /// Removes what the destination has of the domains from an earlier time.
    private func removeFormer() throws(StorageError) { for part in parts { try part.removeCopies() } }

    private mutating func copyAll() throws(StorageError) {
        for index in parts.indices {
            report.parts[index].copied = try parts[index].bringAll { [progress] done, total in
                progress(StepProgress(step: "copying", done: done, total: total))
            }
        }
    }

    /// Brings over what programs change, until that is little.
    private mutating func follow(
        _ log: inout ChangeLog.Reader, _ keeper: borrowing SwitchGate.Keeper
    ) throws(StorageError) {
        for _ in 0..<Self.rounds {
            let changes = try log.next()
            // A change is noted before it is made.
            try keeper.track(within: Self.patience)
            try bring(changes)
            if changes.count <= Self.few { return }
        }
    }

    private mutating func bring(_ changes: Set<ChangeLog.Entry>) throws(StorageError) {
        for (index, part) in parts.enumerated() {
            try parts[index].follow(changes.filter { $0.store == part.identity }.map(\.address))
        }
    }

    /// Lets sync, whose lock is held, take none of the values for removed ones.
    private func noteMoves() throws(StorageError) {
        var moved = try MovedDomains(snapshot.settings.folders)
        let now = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
        for part in parts {
            moved.move(Set(part.copy.domains), from: part.copy.source, to: part.copy.destination, arrived: now)
        }
        try moved.save()
    }

    private func undo() throws(StorageError) { for part in parts { try part.undo() } }

    private mutating func removeSources(_ entry: SwitchIntent) throws(StorageError) {
        for (index, part) in parts.enumerated() {
            let (removed, changed) = try part.removeSource(after: entry.parts[index].latest) { [progress] done, total in
                progress(StepProgress(step: "removing", done: done, total: total))
            }
            report.parts[index].removed = removed
            report.parts[index].changed = changed.map { "\($0)" }
            if part.copy.destination.isKeychain, !part.copy.source.isKeychain {
                for place in part.copy.possiblePlaces() { try? part.copy.source.store.wipe(place) }
            }
            guard changed.isEmpty else { continue }
            try RouteHistory(snapshot.settings.folders).emptied(part.copy.source.name, of: part.copy.domains)
        }
    }
}
