internal import ByteCoding
internal import FoundationEssentials
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

/// The hash of what a sealed source said when it was superseded. It distinguishes the value from a later one after it
/// was re-encrypted, when its stored bytes are others.
///
/// A hash of opened bytes says something of a secret, so it is a value by itself: it lies in the destination's store
/// and is sealed as the destination's values are, and re-encrypted with them.
enum SourceWitness {
    /// A new one; `nil` if the source is not sealed, or is not less protected than the destination, or does not open.
    static func made(
        of source: ResolvedKey, for destination: ResolvedKey
    ) async -> (name: String, change: BatchChange)? {
        guard !source.layers.isEmpty, !destination.layers.isEmpty,
            let digest = try? await digest(of: source), let data = encoded(digest)
        else { return nil }
        let name = LedgerPlace.witnessName()
        guard let place = try? LedgerPlace.witness(name, of: destination, in: destination.open),
            let value = try? await place.sealedValue()
        else { return nil }
        return (name, BatchChange(place, value: value, data: data))
    }

    /// Whether a source has the value that the one of this name is about.
    ///
    /// - Parameter open: The store that has the ledger.
    static func knows(
        _ source: ResolvedKey, _ name: String?, of destination: ResolvedKey, in open: OpenStore
    ) async -> Bool {
        guard let name, let place = try? LedgerPlace.witness(name, of: destination, in: open),
            let stored = try? await place.stored(), let said = try? await place.opened(stored),
            let digest = try? await digest(of: source)
        else { return false }
        return encoded(digest) == said
    }

    /// The same in the middle of a migration of many, for bytes that were read.
    static func knows(_ source: ResolvedKey, _ stored: Data, _ place: ResolvedKey) -> Bool {
        guard let kept = try? place.readStored(), let said = try? place.opening(kept),
            let data = try? source.opening(stored)
        else { return false }
        return encoded(StableHash.of(data)) == said
    }

    private static func digest(of source: ResolvedKey) async throws(StorageError) -> UInt64? {
        let value = try await source.sealedValue()
        return try await source.open.wait("reading '\(source.address)'") { () throws(StorageError) in
            try value.digest()
        }
    }

    private static func encoded(_ digest: UInt64?) -> Data? { digest.map { bytes(of: $0) } }

    /// A hash as it is kept.
    static func bytes(of digest: UInt64) -> Data { withUnsafeBytes(of: digest.littleEndian) { Data($0) } }
}
