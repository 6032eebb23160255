internal import FoundationEssentials
internal import LocalDataAPI

/// Copies many small values in one change of the destination, which waits for the disk once.
extension StoreCopy {
    /// The most values of a chunk; fewer of sealed ones, which take more memory.
    var mostValues: Int { source.sealing == nil && destination.sealing == nil ? 2048 : 256 }

    /// The bytes from which on a chunk is full.
    private static let mostBytes = 8 << 20

    /// Whether values are copied in chunks: the destination changes many at once and notices what others change.
    var copiesChunks: Bool { destination.store.abilities.transactions != nil }

    /// A value on its way.
    private struct Move {
        let index: Int
        let target: SealedValue
        var data: Data
        let attributes: ValueAttributes
        let digest: UInt64

        mutating func clear() { data.resetBytes(in: 0..<data.count) }
    }

    /// Copies values of one place that the destination does not have, and reads them back: all that can be copied so,
    /// or none.
    ///
    /// - Parameter addresses: At most ``mostValues``, none of the host's own keys.
    /// - Returns: What came of each that was looked at, from the first on: the hash of the opened bytes that were
    ///   copied, or what was read back in their place. `nil` for those that are to be copied one by one, which reports
    ///   what is in the way: they are large, cannot be read, or another process came between.
    func copyChunk(_ addresses: [StorageAddress]) throws(StorageError) -> [Result<UInt64, StorageError>?] {
        guard let place = addresses.first?.place else { return [] }
        return try whileSourceStands { () throws(StorageError) in
            var moves: [Move] = []
            defer { for index in moves.indices { moves[index].clear() } }
            var outcomes: [Result<UInt64, StorageError>?] = []
            var bytes = 0
            let view = try StoreView(AtomicScope(place, in: destination))
            for address in addresses where bytes < Self.mostBytes {
                outcomes.append(nil)
                guard let move = try? move(outcomes.count - 1, address, view) else { continue }
                bytes += move.data.count
                moves.append(move)
            }
            guard isWritten(moves, view) else { return outcomes }
            for move in moves {
                let isThere = try move.target.digest() == move.digest
                outcomes[move.index] = isThere ? .success(move.digest) : .failure(unequal(addresses[move.index]))
            }
            return outcomes
        }
    }

    /// Reads a value that is to be copied; `nil` for one that is to be copied by itself.
    private func move(
        _ index: Int, _ address: StorageAddress, _ view: StoreView
    ) throws(StorageError) -> Move? {
        let from = try value(at: address, in: source)
        let target = try value(at: address, in: destination)
        guard try view.read(target) == nil, let attributes = try from.attributes(),
            attributes.size ?? 0 <= LargeMove.least, let data = try from.get()
        else { return nil }
        return Move(
            index: index, target: target, data: data, attributes: attributes, digest: StableHash.of(data))
    }

    /// Seals the values and stores them; `false` if that cannot be, and then nothing has changed.
    private func isWritten(_ moves: [Move], _ view: StoreView) -> Bool {
        guard let first = moves.first?.target else { return false }
        do throws(StorageError) {
            // The same keys for all: one place has one ring.
            return try first.layers.whileSealing(in: first.place) { (keys) throws(StorageError) in
                var changes: [StorageChange<StoreHandle>] = []
                for move in moves {
                    changes.append(
                        StorageChange(
                            key: move.target.handle,
                            value: try move.target.sealed(move.data, under: keys, attributes: move.attributes),
                            attributes: move.attributes))
                }
                return try view.apply(changes)
            }
        } catch {
            // One by one, what is wrong is reported with the value it is about.
            return false
        }
    }
}
