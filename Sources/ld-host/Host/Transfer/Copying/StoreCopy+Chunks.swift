internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// Copies many small values in one change of the destination, which then waits for the disk only once.
extension StoreCopy {
    /// The most values of a chunk; fewer if they are sealed, because those take more memory.
    var mostValues: Int { source.sealing == nil && destination.sealing == nil ? 2048 : 256 }

    /// The size in bytes at which a chunk is full.
    private static let mostBytes = 8 << 20

    /// Whether values are copied in chunks: the destination must have bulk changes that notice changes by others.
    var copiesChunks: Bool { destination.store.abilities.transactions != nil }

    /// A value that is being copied.
    private struct Move {
        let index: Int
        let target: SealedValue
        var data: Data
        let attributes: ValueAttributes
        let digest: UInt64

        mutating func clear() { data.resetBytes(in: 0..<data.count) }
    }

    /// Copies values of one namespace that the destination does not have, and reads them back: all that can be copied
    /// in this way, or none.
    ///
    /// - Parameter addresses: At most ``mostValues``, none of them host keys.
    /// - Returns: One result per examined value, from the first on: the copied value, or what was read back instead.
    ///   `nil` for values to be copied one by one, which reports the cause: they are large, cannot be read, or another
    ///   process intervened.
    func copyChunk(_ addresses: [StorageAddress]) throws(StorageError) -> [Result<Copied, StorageError>?] {
        guard let place = addresses.first?.place else { return [] }
        return try whileSourceStands { () throws(StorageError) in
            var moves: [Move] = []
            defer { for index in moves.indices { moves[index].clear() } }
            var outcomes: [Result<Copied, StorageError>?] = []
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
                let address = addresses[move.index]
                do throws(StorageError) {
                    outcomes[move.index] = .success(
                        try verified(address, move.target, move.digest, writtenAt: move.attributes))
                } catch {
                    guard error.code == .corrupt else { throw error }
                    outcomes[move.index] = .failure(error)
                }
            }
            return outcomes
        }
    }

    /// Reads a value to copy; `nil` for one that must be copied on its own.
    private func move(
        _ index: Int, _ address: StorageAddress, _ view: StoreView
    ) throws(StorageError) -> Move? {
        let from = try value(at: address, in: source)
        let target = try value(at: address, in: destination)
        guard try view.read(target) == nil, let size = try from.attributes().map({ $0.size ?? 0 }),
            size <= LargeMove.least, let (data, attributes) = try from.attributed()
        else { return nil }
        return Move(
            index: index, target: target, data: data, attributes: attributes, digest: StableHash.of(data))
    }

    /// Seals the values and stores them; `false` if that fails, and then nothing has changed.
    private func isWritten(_ moves: [Move], _ view: StoreView) -> Bool {
        guard let first = moves.first?.target else { return false }
        do throws(StorageError) {
            // One ring's keys for all, since a namespace has one ring.
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
            // Copying one by one reports the error with the value that it concerns.
            return false
        }
    }
}
