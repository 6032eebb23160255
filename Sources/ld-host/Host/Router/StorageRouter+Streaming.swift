package import HostGround
internal import HostMigration
internal import HostPlugins
public import HostStores
public import LocalDataAPI
internal import Synchronization

/// Access to values in pieces. The functions run on one I/O thread throughout, so `body` and `fill` may wait.
extension StorageRouter {
    /// Passes a value in pieces, in order, until `body` returns `false`; `false` if there is no value. Older data is
    /// migrated first, as by `get`.
    ///
    /// - Parameter verification: How much of a sealed value is verified before the first byte is passed.
    /// - Throws: `cannotOpen` if a sealed value was changed; with ``StreamVerification/whole`` nothing has been passed
    ///   then.
    public func readData(
        for key: AnyStorageKey, verifying verification: StreamVerification = .whole,
        _ body: @escaping @Sendable (RawSpan) -> Bool
    ) async throws -> Bool {
        try await readPieces(for: key, verifying: verification) { body($0.bytes) }
    }

    /// Stores a value in pieces. If `fill` throws, the old value stays.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - fill: Appends the next bytes, as many as there is room for or fewer, and none at the end.
    public func writeData(
        for key: AnyStorageKey, from fill: @escaping @Sendable (inout OutputRawSpan) throws -> Void
    ) async throws {
        try await writePieces(for: key) { memory in
            var span = OutputRawSpan(buffer: memory, initializedCount: 0)
            try fill(&span)
            return span.finalize(for: memory)
        }
    }
}

/// The same with pointers, for the package's own callers.
extension StorageRouter {
    package func readPieces(
        for key: AnyStorageKey, verifying verification: StreamVerification = .whole,
        _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async throws -> Bool {
        let resolved = try await resolveForReading(key)
        if try await read(resolved, verification, body) {
            await noteFound(resolved, key.descriptor)
            return true
        }
        if try await hasMoved(resolved, { try await resolveForReading(key) }) {
            return try await readPieces(for: key, verifying: verification, body)
        }
        guard try await engine().mayBringData(to: key) else { return false }
        try await following { try await self.engine().bringData(to: key) }
        return try await read(resolve(KeyReference(key)), verification, body)
    }

    private func read(
        _ resolved: ResolvedKey, _ verification: StreamVerification,
        _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async throws -> Bool {
        if let refusal = resolved.refusal { throw refusal }
        guard resolved.layers.isEmpty else {
            let value = try await resolved.sealedValue()
            return try await resolved.open.wait("reading '\(resolved.address)'") { () throws(StorageError) in
                try value.read(verification, body)
            }
        }
        do throws(StorageError) {
            return try await resolved.open.write("reading '\(resolved.address)'") { (store) throws(StorageError) in
                try resolved.requirePlain()
                return try store.read(resolved.handle, body)
            }
        } catch { throw resolved.naming(error) }
    }

    /// - Parameter fill: Fills the buffer and returns how many bytes it has written, 0 at the end.
    package func writePieces(
        for key: AnyStorageKey, from fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
    ) async throws {
        try await write(GivenBytes(from: fill), for: key)
    }

    private func write(_ bytes: GivenBytes, for key: AnyStorageKey) async throws {
        let resolved = try await following {
            let resolved = try await resolve(KeyReference(key))
            try await requireOwner(resolved, key.descriptor)
            try await keepUnread(key, resolved)
            // Other stores take nothing before they may change the value.
            let takesAllFirst = resolved.open.store.abilities.streaming == nil
            do { try await write(resolved) { try bytes.read(into: $0, keeping: takesAllFirst) } } catch let error
                as StorageError where error.isSuperseded
            {
                try bytes.rewind(after: error)
                throw error
            }
            return resolved
        }
        await note(resolved, key.descriptor)
        let engine = try await engine()
        if try await engine.mayBringData(to: key) {
            _ = try await engine.applySuperseding([(key, resolved)], with: [])
        }
    }

    private func write(
        _ resolved: ResolvedKey, _ fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
    ) async throws {
        if let refusal = resolved.refusal { throw refusal }
        @Sendable func write(_ body: () throws -> Void) throws(StorageError) {
            do { try body() } catch {
                throw (error as? StorageError) ?? StorageError(.cancelled, "the value could not be read: \(error)")
            }
        }
        guard resolved.layers.isEmpty else {
            let value = try await resolved.sealedValue()
            return try await resolved.open.wait("writing '\(resolved.address)'") { () throws(StorageError) in
                try write { try value.write(attributes: resolved.attributes, from: fill) }
            }
        }
        try await resolved.open.write("writing '\(resolved.address)'") { (store) throws(StorageError) in
            try write { try store.write(resolved.handle, attributes: resolved.attributes, from: fill) }
        }
    }

    package func readStoredPieces(
        for key: AnyStorageKey, _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async throws -> Bool {
        let resolved = try await resolve(KeyReference(key))
        return try await resolved.open.write("reading '\(resolved.address)'") { (store) throws(StorageError) in
            try store.read(resolved.handle, body)
        }
    }
}

/// Access to values in memory that is cleared afterwards.
extension StorageRouter {
    /// The value, or `nil` if absent.
    ///
    /// - Throws: `valueTooLarge` if it has more than `limit` bytes; why the value cannot be read.
    package func secret(for key: AnyStorageKey, limit: Int = .max) async throws -> SecretBuffer? {
        let buffer = SecretBuffer()
        let isTooLarge = Atomic(false)
        // If a later chunk does not open, the call throws and nobody sees the earlier ones.
        let found = try await readPieces(for: key, verifying: .chunks) { piece in
            guard buffer.count + piece.count <= limit else {
                isTooLarge.store(true, ordering: .relaxed)
                return false
            }
            buffer.append(piece)
            return true
        }
        guard !isTooLarge.load(ordering: .relaxed) else {
            throw StorageError(
                .valueTooLarge,
                "'\(key.descriptor.domain)/\(key.descriptor.name)' has more than \(limit) bytes, the most that "
                    + "can be read here",
                hint: "read it in pieces: ld-host get")
        }
        return found ? buffer : nil
    }

    /// Stores a value, replacing the old one.
    package func setSecret(_ value: SecretSlice, for key: AnyStorageKey) async throws {
        try await write(GivenBytes(value), for: key)
    }
}
