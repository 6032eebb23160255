internal import ByteCoding
internal import HostGround
internal import HostMoving
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// Copies many small values in one step.
extension StoreCopy {
    /// The most values of a step.
    var mostValues: Int {
        MoveLimits.values(source, destination, isSealed: source.sealing != nil || destination.sealing != nil)
    }

    /// Whether values are copied in steps: the destination must have bulk changes that notice changes by others.
    var copiesInSteps: Bool { destination.store.abilities.transactions != nil }

    /// Copies values of one namespace that the destination does not have, and reads them back.
    ///
    /// - Parameter addresses: At most ``mostValues``, none of them host keys.
    /// - Returns: As ``MovingStep/move(_:reading:_:)``: the copied value, or what was read back instead.
    func copyStep(_ addresses: [StorageAddress]) throws(StorageError) -> [Result<Copied, StorageError>?] {
        guard let place = addresses.first?.place else { return [] }
        return try whileSourceStands { () throws(StorageError) in
            try MovingStep(to: AtomicScope(place, in: destination)).move(addresses) {
                (address, view) throws(StorageError) in
                try item(address, view)
            } _: { (address, item) throws(StorageError) in
                do throws(StorageError) {
                    let digest = StableHash.of(item.data)
                    return .success(try verified(address, item.target, digest, writtenAt: item.kept))
                } catch {
                    guard error.code == .corrupt else { throw error }
                    return .failure(error)
                }
            }
        }
    }

    private func item(_ address: StorageAddress, _ view: StoreView) throws(StorageError) -> MovingStep.Item? {
        let from = try value(at: address, in: source)
        let target = try value(at: address, in: destination)
        guard try view.read(target) == nil, let size = try from.attributes().map({ $0.size ?? 0 }),
            size <= MoveLimits.whole, let (data, attributes) = try from.attributed()
        else { return nil }
        return MovingStep.Item(to: target, data, kept: attributes)
    }
}
