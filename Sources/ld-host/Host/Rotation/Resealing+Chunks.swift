internal import FoundationEssentials
internal import LocalDataAPI

/// Re-encrypts many small values in one change of their store, which waits for the disk once.
extension Resealing {
    /// The most values of a chunk, and bytes from which on it is full: as many as take some tenths of a second, since
    /// others wait with what they have to seal.
    private static let mostValues = 1024
    private static let mostBytes = 4 << 20

    /// A value on its way.
    private struct Move {
        let index: Int
        let writer: SealedValue
        var data: Data
        /// What the store keeps, and what the envelope carries.
        let kept: ValueAttributes
        let sealed: ValueAttributes

        mutating func clear() { data.resetBytes(in: 0..<data.count) }
    }

    /// Re-encrypts the first of some values that go together: all that can be re-encrypted so, or none.
    ///
    /// - Returns: What came of each that was looked at, from the first on and at least of that: whether it was
    ///   re-encrypted. `nil` for those that are to be re-encrypted one by one, which reports what is in the way: they
    ///   are large, cannot be opened, take a slow derivation, or another process came between.
    func resealChunk(_ findings: ArraySlice<SealedScan.Finding>) throws(StorageError) -> [Bool?] {
        guard let first = findings.first else { return [] }
        let chunk = findings.prefix(Self.mostValues).prefix { goesAlong($0, with: first) }
        guard chunk.count > 1 else { return [nil] }
        return try whileNobodySeals(with: first.ring) { (active) throws(StorageError) in
            var moves: [Move] = []
            defer { for index in moves.indices { moves[index].clear() } }
            var outcomes: [Bool?] = []
            var bytes = 0
            let view = try StoreView(AtomicScope(first.address.place, in: first.open))
            for finding in chunk where bytes < Self.mostBytes {
                outcomes.append(nil)
                guard let move = try? move(outcomes.count - 1, finding, view, active) else { continue }
                bytes += move.data.count
                moves.append(move)
            }
            if isWritten(moves, view) { for move in moves { outcomes[move.index] = true } }
            return outcomes
        }
    }

    private func goesAlong(_ finding: SealedScan.Finding, with first: SealedScan.Finding) -> Bool {
        finding.open === first.open && finding.address.place == first.address.place && finding.ring === first.ring
            && finding.open.store.abilities.transactions != nil && !finding.header.derivation.isSlow
    }

    /// Reads a value that is to be re-encrypted; `nil` for one that is to be looked at by itself.
    private func move(
        _ index: Int, _ finding: SealedScan.Finding, _ view: StoreView, _ active: KeyRingState.Entry
    ) throws(StorageError) -> Move? {
        let reader = try reader(of: finding)
        guard let kept = try keptAttributes(of: reader), kept.size ?? .max <= LargeMove.least,
            let stored = try view.read(reader)
        else { return nil }
        let (data, header) = try reader.opened(stored)
        guard let header, isStale(header, active: active.id) else { return nil }
        return Move(
            index: index, writer: try writer(of: finding, header, under: active), data: data, kept: kept,
            sealed: header.attributes)
    }

    /// Seals the values and stores them; `false` if that cannot be, and then nothing has changed.
    private func isWritten(_ moves: [Move], _ view: StoreView) -> Bool {
        guard moves.count > 1, let first = moves.first?.writer else { return false }
        do throws(StorageError) {
            // The same keys for all: one place has one ring around this one's values.
            return try first.layers.whileSealing(in: first.place) { (keys) throws(StorageError) in
                var changes: [StorageChange<StoreHandle>] = []
                for move in moves {
                    let value = try move.writer.sealed(move.data, under: keys, attributes: move.sealed)
                    changes.append(StorageChange(key: move.writer.handle, value: value, attributes: move.kept))
                }
                return try view.apply(changes)
            }
        } catch {
            // One by one, what is wrong is reported with the value it is about.
            return false
        }
    }
}
