internal import HostGround
internal import HostPlugins
package import HostStores
package import LocalDataAPI

extension StoreSwitch {
    /// Finishes or undoes a switch whose process has ended, while nobody else switches.
    ///
    /// - Parameter current: The snapshot for what the configuration says now.
    package static func recover(
        _ intent: Intent, _ current: () throws(StorageError) -> RouterSnapshot
    ) throws(StorageError) {
        let snapshot = try current()
        let stores = Set(try stores(of: SwitchIntent(intent.payload, of: intent.id), snapshot))
        let keeper = try SwitchGate.ofUser.keep(
            GatedStores(stores), in: snapshot.settings.folders.state, within: patience)
        defer { keeper.open() }
        try settle(intent, try current(), stores)
    }

    /// The identities of the stores of a switch.
    private static func stores(
        of entry: SwitchIntent, _ snapshot: RouterSnapshot
    ) throws(StorageError) -> [UInt64] {
        try ([entry.to] + entry.parts.map(\.from)).map { (name) throws(StorageError) in
            try snapshot.slotOrComponent(name).openIfNeeded().store.contents
        }
    }

    /// The identities of the stores of all switches whose processes have ended.
    static func interrupted(
        _ journal: IntentJournal, _ snapshot: RouterSnapshot
    ) throws(StorageError) -> Set<UInt64> {
        var stores: Set<UInt64> = []
        for pending in try journal.pending(kind: SwitchIntent.kind) where pending.state == .interrupted {
            stores.formUnion(try self.stores(of: SwitchIntent(pending.payload, of: pending.id), snapshot))
        }
        return stores
    }

    /// Finishes or undoes all switches whose processes have ended, before another one begins.
    ///
    /// - Parameter stores: Those whose writers are waited for.
    static func settleInterrupted(
        _ snapshot: RouterSnapshot, _ stores: Set<UInt64>
    ) throws(StorageError) {
        let journal = try IntentJournal(folder: snapshot.settings.folders.journal)
        for pending in try journal.pending(kind: SwitchIntent.kind) where pending.state == .interrupted {
            // A program that has just begun may be faster.
            guard let intent = try? journal.adopt(pending.id) else { continue }
            try settle(intent, snapshot, stores)
            try intent.finish()
        }
    }

    private static func settle(
        _ intent: Intent, _ snapshot: RouterSnapshot, _ stores: Set<UInt64>
    ) throws(StorageError) {
        let entry = try SwitchIntent(intent.payload, of: intent.id)
        guard stores.isSuperset(of: try self.stores(of: entry, snapshot)) else {
            throw StorageError(
                .busy, "\(entry.subject) was interrupted, and its stores were changed meanwhile", hint: "try again")
        }
        let history = RouteHistory(snapshot.settings.folders)
        let destination = try snapshot.slotOrComponent(entry.to).openIfNeeded()
        for part in entry.parts {
            let source = try snapshot.slotOrComponent(part.from).openIfNeeded()
            let switched = try SwitchedPart(snapshot, from: source, to: destination, domains: part.domains)
            let serving = Set(part.domains.map { snapshot.settings.routes[$0]?.store.name })
            if serving == [part.from] {
                try switched.undo()
            } else if part.latest == nil, !serving.contains(entry.to) {
                // Another store was switched to since, and this one has only copies.
                try switched.removeCopies()
            } else if serving == [entry.to], entry.keepsSource {
                try history.acknowledge(part.domains, in: part.from)
            } else if serving == [entry.to], let latest = part.latest {
                let left = try switched.removeSource(after: latest) { _, _ in }
                if left.changed.isEmpty { try history.emptied(part.from, of: part.domains) }
            }
            // Otherwise somebody has changed the line, and what either store has is left to him.
        }
    }
}
