internal import ByteCoding
internal import FoundationEssentials
internal import HostPlugins
package import LocalDataAPI

/// Moves a value unchanged, in pieces, so that only some of them are in memory. Calls may wait.
package struct LargeMove: Sendable {
    let source: SealedValue
    package let destination: SealedValue

    package init(source: SealedValue, destination: SealedValue) {
        self.source = source
        self.destination = destination
    }

    /// The value's size if it exceeds 1 MiB and the store can stream it; otherwise `nil`.
    package static func largeSize(of key: ResolvedKey) throws(StorageError) -> Int? {
        guard key.store.abilities.attributes != nil, key.store.abilities.streaming != nil else { return nil }
        let size = try key.open.repeating { () throws(StorageError) in
            try key.store.attributes(of: key.handle)?.size ?? 0
        }
        return size > MoveLimits.whole ? Int(clamping: size) : nil
    }

    /// Copies the value. It replaces the destination as a whole, unless `attributes` or `check` throws before.
    ///
    /// - Parameters:
    ///   - isKept: Whether to keep a value that someone else writes to the destination meanwhile, up to the moment when
    ///     the store puts the copy in place.
    ///   - holds: Whether the copy is still wanted then.
    /// - Throws: `busy` if there was one, or if it is not.
    package func copy(
        attributes: ValueAttributes?, keeping isKept: Bool, if holds: () throws(StorageError) -> Bool = { true }
    ) throws(StorageError) {
        try source.copy(
            to: destination, attributes: attributes,
            ifHolds: { () throws(StorageError) in
                guard try holds() else {
                    throw StorageError(
                        .busy, "another process changed one of the two values while one was being copied",
                        hint: "try again")
                }
                guard isKept, try destination.store.exists(destination.handle) else { return }
                throw StorageError(
                    .busy, "another process stored a value at the destination while one was being copied there",
                    hint: "try again")
            })
    }

    /// Whether the destination has the source's bytes.
    package func isInPlace() throws(StorageError) -> Bool {
        guard try source.store.exists(source.handle) else { return false }
        return try source.isEqual(to: destination)
    }

    /// Removes the source if the destination has its bytes and nobody changes it meanwhile. Tried again while others
    /// change one of the two.
    ///
    /// - Returns: Whether the source is gone.
    package func settle(in open: OpenStore) throws(StorageError) -> Bool {
        for _ in 0..<MoveLimits.attempts {
            guard try source.store.exists(source.handle) else { return true }
            let isRemoved = try source.layers.whileStanding { () throws(StorageError) in
                try source.remove(in: open) { () throws(StorageError) in try isInPlace() }
            }
            if isRemoved { return true }
        }
        return false
    }
}

extension SealedValue {
    /// Removes the value if a condition holds and nobody changes it meanwhile; a store without transactions checks it
    /// right before.
    package func remove(in open: OpenStore, if condition: () throws(StorageError) -> Bool) throws(StorageError) -> Bool
    {
        guard open.store.abilities.transactions != nil else {
            return try open.alone(changing: [handle.address]) { () throws(StorageError) in
                guard try condition() else { return false }
                return try store.remove(handle)
            }
        }
        let transaction = try open.store.begin()
        do throws(StorageError) {
            // From here on, a change of the value makes the commit fail.
            _ = try open.store.remove(handle, in: transaction)
            guard try condition() else {
                open.store.rollback(transaction)
                return false
            }
        } catch {
            open.store.rollback(transaction)
            throw error
        }
        do throws(StorageError) {
            try open.store.commit(transaction)
            return true
        } catch {
            guard error.code == .busy else { throw error }
            return false
        }
    }

    /// The hash of the opened bytes; `nil` if there is no value.
    package func digest() throws(StorageError) -> UInt64? {
        var hash = StableHash.start
        let isThere = try read(.chunks) {
            StableHash.add($0, to: &hash)
            return true
        }
        return isThere ? hash : nil
    }

    /// The hash of the bytes in the store; `nil` if there is no value.
    package func storedDigest() throws(StorageError) -> UInt64? { try store.digest(of: handle) }
}

extension LoadedStore {
    /// The hash of the bytes at a handle; `nil` if there is no value.
    func digest(of handle: StoreHandle) throws(StorageError) -> UInt64? {
        var hash = StableHash.start
        let isThere = try read(handle) {
            StableHash.add($0, to: &hash)
            return true
        }
        return isThere ? hash : nil
    }
}
