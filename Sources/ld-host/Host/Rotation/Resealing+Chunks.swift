internal import FoundationEssentials
internal import LocalDataAPI

/// Re-encrypts many small values in one change of their store, which then waits for the disk only once.
extension Resealing {
    /// The most values and bytes in a chunk. It takes some tenths of a second, because others wait meanwhile to seal.
    private static let mostValues = 1024
    private static let mostBytes = 4 << 20

    /// A value that is being re-encrypted.
    private struct Move {
        let index: Int
        let writer: SealedValue
        var data: Data
        /// The store's and the envelope's attributes.
        let kept: ValueAttributes
        let sealed: ValueAttributes

        mutating func clear() { data.resetBytes(in: 0..<data.count) }
    }

    /// Re-encrypts a chunk of values: all that can be re-encrypted in this way, or none.
    ///
    /// - Returns: For each examined value, from the first on and at least for that one, whether it was re-encrypted.
    ///   `nil` for values to be re-encrypted one by one, which reports the cause: they are large, cannot be opened,
    ///   need a slow derivation, or another process intervened.
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

    /// Reads a value to re-encrypt; `nil` for one that must be handled on its own.
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

    /// Seals the values and stores them; `false` if that fails, and then nothing has changed.
    private func isWritten(_ moves: [Move], _ view: StoreView) -> Bool {
        guard moves.count > 1, let first = moves.first?.writer else { return false }
        do throws(StorageError) {
            // The same keys for all: one namespace has one ring for its values.
            return try first.layers.whileSealing(in: first.place) { (keys) throws(StorageError) in
                var changes: [StorageChange<StoreHandle>] = []
                for move in moves {
                    let value = try move.writer.sealed(move.data, under: keys, attributes: move.sealed)
                    changes.append(StorageChange(key: move.writer.handle, value: value, attributes: move.kept))
                }
                return try view.apply(changes)
            }
        } catch {
            // Re-encrypting one by one reports the error with the value that it concerns.
            return false
        }
    }
}
