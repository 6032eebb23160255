internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// The values that a migration of many does not bring any more, as their keys were set or removed without them: see
/// ``Supersession``. Calls may wait.
struct SupersededValues: Sendable {
    private struct Mark {
        /// The hash of the stored bytes.
        let before: UInt64?
        /// Where its ``SourceWitness`` is.
        let witness: ResolvedKey?
        let wasLedByOther: Bool
    }

    /// By the names in the source.
    private var marks: [String: Mark] = [:]

    /// None.
    init() {}

    /// - Throws: `corrupt` if the ledger of one of the destinations cannot be read.
    init(_ ledger: BulkLedger) throws(StorageError) {
        try add(ledger, from: ledger.destination.open)
        // What they say who may have served the domain before counts where the destination's ledger has nothing.
        for open in ledger.snapshot.holders(of: ledger.destination.namespace.domain) {
            var others = SupersededValues()
            try? others.add(ledger, from: open)
            marks.merge(others.marks) { own, _ in own }
        }
    }

    private mutating func add(_ ledger: BulkLedger, from open: OpenStore) throws(StorageError) {
        guard open.store.abilities.enumeration != nil else { return }
        let prefix = "\(ledger.destination.address(ledger.destination.range.prefix))"
        var names: [String] = []
        try open.repeating { () throws(StorageError) in
            names = []
            try open.store.forEachName(in: LedgerPlace.namespace, prefix: LedgerPlace.pageNamePrefix(of: prefix)) {
                names.append($0)
                return true
            }
        }
        for name in names {
            let place = try LedgerPlace.page(named: name, in: open, ledger.snapshot.settings)
            guard let stored = try place.readStored() else { continue }
            let bytes = try place.opening(stored)
            guard let address = LedgerPage.address(in: bytes) else { continue }
            guard let row = try LedgerPage(bytes, of: address)[ledger.migration.id] else { continue }
            for change in row.superseded ?? [] {
                let name = try change.key.descriptor.name
                let destination = try ledger.destination.key(ledger.migration.destinationName(of: name))
                marks[name] = Mark(
                    before: change.before,
                    witness: try change.witness.map { (witness) throws(StorageError) in
                        try LedgerPlace.witness(witness, of: destination, in: open)
                    }, wasLedByOther: row.wasLedByOther == true)
            }
        }
    }

    /// Whether the list is empty.
    var isEmpty: Bool { marks.isEmpty }

    /// Whether a value of this name had been superseded.
    func knows(_ name: String) -> Bool { marks[name] != nil }

    /// Whether these are the bytes that were, or the same value re-encrypted.
    ///
    /// - Parameter isThere: Whether the destination has a value. Then that counts only if another device led the sync
    ///   group.
    func holds(_ source: ResolvedKey, _ stored: Data, besidesValue isThere: Bool) -> Bool {
        guard let mark = marks[source.address.name], !isThere || mark.wasLedByOther else { return false }
        if mark.before == StableHash.of(stored) { return true }
        return mark.witness.map { SourceWitness.knows(source, stored, $0) } ?? false
    }
}
