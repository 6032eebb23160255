package import FoundationEssentials
internal import Glibc
internal import HostGround
package import HostPlugins
package import HostSealing
package import LocalDataAPI

/// The value of one address of a store, behind its layers of sealing. Calls may wait unless stated otherwise.
package struct SealedValue: Sendable {
    package let store: LoadedStore
    package let handle: StoreHandle
    /// Innermost first: the first one seals the value itself.
    package let layers: [SealingLayer]
    /// The layers' rings record it before they seal anything; `nil` if the value does not outlive the process.
    package let place: SealedPlace?
    /// Keeps the handle valid.
    let owner: any AnyObject & Sendable

    /// Whether machines share its store.
    package var isSharedByMachines: Bool { store.abilities.lock != nil }

    /// The value, or `nil` if absent.
    package func get() throws(StorageError) -> Data? {
        try stored { () throws(StorageError) in try store.get(handle) }
            .map { (data) throws(StorageError) in try open(data) }
    }

    /// Reads what the store keeps. An error for corrupt bytes names the value, as that of a value without layers does.
    func stored<Result>(_ read: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try read() } catch {
            throw layers.isEmpty ? error : (owner as? ResolvedKey)?.naming(error) ?? error
        }
    }

    /// The value and its version tag, which the envelope keeps; `nil` if absent.
    func tagged() throws(StorageError) -> TaggedValue? {
        try stored { () throws(StorageError) in try store.get(handle) }.map { (data) throws(StorageError) in
            let (value, header) = try opened(data)
            return TaggedValue(data: value, tag: header?.attributes.versionTag)
        }
    }

    /// Opens the bytes that the store keeps.
    package func open(_ stored: Data) throws(StorageError) -> Data { try opened(stored).value }

    /// Opens the bytes that the store keeps, and returns the header of the innermost envelope too; `nil` without
    /// layers.
    package func opened(_ stored: Data) throws(StorageError) -> (value: Data, header: EnvelopeHeader?) {
        var (data, inner): (Data, EnvelopeHeader?) = (stored, nil)
        for layer in layers.reversed() {
            (data, inner) = try layer.envelope.open(data) { (header) throws(StorageError) in try layer.find(header) }
        }
        return (data, inner)
    }

    /// The value if it is available without waiting. The outer `nil` means that it is not, the inner that there is no
    /// value.
    func getAtOnce() throws(StorageError) -> Data?? {
        var found: Data?
        do throws(StorageError) {
            found = try stored { () throws(StorageError) in try store.reader(of: handle).read() }
        } catch {
            guard error.code == StorageError.expired.code else { throw error }
            return nil
        }
        guard var data = found else { return .some(nil) }
        for layer in layers.reversed() {
            let header = try layer.envelope.header(of: data)
            guard layer.opensAtOnce(header) else { return nil }
            data = try layer.envelope.open(data, header) { (header) throws(StorageError) in try layer.find(header) }
        }
        return data
    }

    /// Seals a value and stores it.
    package func set(_ value: Data, attributes: ValueAttributes?) throws(StorageError) {
        try layers.whileSealing(in: place) { (keys) throws(StorageError) in
            try store.set(handle, to: sealed(value, under: keys, attributes: attributes), attributes: attributes)
        }
    }

    /// Seals a value into the bytes that the store will keep.
    ///
    /// - Parameter keys: The keys that the layers lend.
    package func sealed(
        _ value: Data, under keys: [EnvelopeKey], attributes: ValueAttributes?
    ) throws(StorageError) -> Data {
        var data = value
        for (layer, key) in zip(layers, keys) {
            data = try layer.envelope.seal(data, under: key, as: layer.style, attributes: attributes)
        }
        return data
    }

    /// Seals a value and stores it if a view is still current; the view cannot be used again.
    ///
    /// - Returns: Whether it was; if not, nothing has changed.
    package func set(_ value: Data, attributes: ValueAttributes?, in view: StoreView) throws(StorageError) -> Bool {
        try layers.whileSealing(in: place) { (keys) throws(StorageError) in
            let data = try sealed(value, under: keys, attributes: attributes)
            return try view.apply([StorageChange(key: handle, value: data, attributes: attributes)])
        }
    }

    /// Seals a value that arrives in pieces and stores it, in bounded memory if the store streams.
    ///
    /// - Parameters:
    ///   - attributes: The attributes that the store keeps.
    ///   - sealed: The attributes in the envelopes; the same if `nil`.
    package func write(
        attributes: ValueAttributes?, sealing sealed: ValueAttributes? = nil,
        from fill: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let outcome: Result<Void, any Error> = try layers.whileSealing(in: place) { keys in
            Result { try write(under: keys, attributes: attributes, sealing: sealed, from: fill) }
        }
        try outcome.get()
    }

    /// The same under keys that the layers lend.
    func write(
        under keys: [EnvelopeKey], attributes: ValueAttributes?, sealing sealed: ValueAttributes? = nil,
        from fill: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        var fill = fill
        for (layer, key) in zip(layers, keys) {
            let source = try EnvelopeSource(
                layer.envelope, under: key, as: layer.style, attributes: sealed ?? attributes, from: fill)
            fill = { buffer in
                let count = try source.read(into: buffer)
                if count == 0 { try layer.keepIfLate(key) }
                return count
            }
        }
        try store.write(handle, attributes: attributes, from: fill)
    }

    /// The value with the revision and the attributes of the same write; `nil` if absent. The envelope's attributes
    /// count, but for the times, which only the store knows.
    package func revisioned() throws(StorageError) -> RevisionedData? {
        try stored { () throws(StorageError) in try store.revisioned(handle) }.map { (stored) throws(StorageError) in
            let (value, header) = try opened(stored.data)
            var attributes = header?.attributes ?? stored.attributes
            attributes.size = UInt64(value.count)
            attributes.modified = stored.attributes.modified
            attributes.expires = stored.attributes.expires
            return RevisionedData(data: value, revision: stored.revision, attributes: attributes)
        }
    }

    /// Seals a value and stores it if the stored one fulfils a condition.
    ///
    /// - Returns: The new revision; `nil` if it does not, and then nothing has changed.
    func set(
        _ value: Data, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws(StorageError) -> UInt64? {
        try layers.whileSealing(in: place) { (keys) throws(StorageError) in
            try store.set(
                handle, to: sealed(value, under: keys, attributes: attributes), attributes: attributes, if: condition)
        }
    }

    /// Removes the value if it has a revision; `false` if it has another one or does not exist.
    func remove(ifRevision revision: UInt64) throws(StorageError) -> Bool {
        try layers.whileStanding { () throws(StorageError) in try store.remove(handle, ifRevision: revision) }
    }

    /// Removes the value; `false` if there was none.
    package func remove() throws(StorageError) -> Bool {
        try layers.whileStanding { () throws(StorageError) in try store.remove(handle) }
    }
}

extension SealedValue {
    /// The value at an address, whose handle is released with the last copy of this.
    package init(at address: StorageAddress, in open: OpenStore, layers: [SealingLayer]) throws(StorageError) {
        let held = HeldHandle(open.store, try open.store.resolve(address))
        self.init(
            store: open.store, handle: held.handle, layers: layers, place: open.sealedPlace(address.place), owner: held)
    }
}

extension OpenStore {
    /// The value at an address behind the store's own sealing, whatever its key's policy.
    package func value(at address: StorageAddress) throws(StorageError) -> SealedValue {
        try SealedValue(at: address, in: self, layers: sealing.map { [$0.layer(for: address)] } ?? [])
    }
}

extension SealedValue {
    /// Copies the value, in bounded memory if both stores stream.
    ///
    /// - Parameters:
    ///   - attributes: The attributes that the store keeps beside it.
    ///   - sealed: The attributes in the envelopes; the same if `nil`.
    ///   - size: The expected number of bytes, if known.
    ///   - pass: Called with each copied piece.
    ///   - check: Called when everything has been read, before the copy takes effect; an error cancels the copy.
    /// - Throws: What reading or writing throws, and `corrupt` for another size; then the target keeps its old value.
    package func copy(
        to target: SealedValue, attributes: ValueAttributes?, sealing sealed: ValueAttributes? = nil, size: Int? = nil,
        passing pass: (UnsafeRawBufferPointer) -> Void = { _ in }, ifHolds check: () throws(StorageError) -> Void = {}
    ) throws(StorageError) {
        try withoutActuallyEscaping(check) { (check) throws(StorageError) in
            try withoutActuallyEscaping(pass) { (pass) throws(StorageError) in
                try copy(to: target, attributes, sealed, size, pass, check)
            }
        }
    }

    private func copy(
        to target: SealedValue, _ attributes: ValueAttributes?, _ sealed: ValueAttributes?, _ size: Int?,
        _ pass: @escaping (UnsafeRawBufferPointer) -> Void, _ check: @escaping () throws(StorageError) -> Void
    ) throws(StorageError) {
        try withPipe(size) { (pipe) throws(StorageError) in
            var copied = 0
            do {
                try target.write(attributes: attributes, sealing: sealed) { buffer in
                    let count = try pipe.read(into: buffer)
                    copied += count
                    pass(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    // Before the end is written: a partial value must not replace the target.
                    guard count > 0 || copied == size ?? copied else {
                        throw StorageError(.corrupt, "only \(copied) of \(size ?? 0) bytes of a value could be read")
                    }
                    if count == 0 { try check() }
                    return count
                }
            } catch {
                throw StorageError(wrapping: error)
            }
        }
    }

    /// Whether another location has the same bytes.
    package func isEqual(to other: SealedValue) throws(StorageError) -> Bool {
        try withPipe(nil) { (pipe) throws(StorageError) in
            try other.isEqual { (buffer) throws(StorageError) in try pipe.read(into: buffer) } ?? false
        }
    }

    /// Whether the value has the bytes that `next` passes in pieces; `nil` if none is stored.
    ///
    /// - Parameter next: Writes the next bytes into a buffer and returns their number; 0 at the end.
    package func isEqual(
        _ next: (UnsafeMutableRawBufferPointer) throws(StorageError) -> Int
    ) throws(StorageError) -> Bool? {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 << 10, alignment: 64)
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: 64 << 10)
        defer {
            clear(buffer)
            memory.deallocate()
        }
        var (isEqual, failure) = (true, StorageError?.none)
        let found = try read(.chunks) { piece in
            var rest = piece[...]
            while isEqual, failure == nil, !rest.isEmpty {
                let space = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(rest.count))
                do throws(StorageError) {
                    let count = try next(space)
                    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(count)).baseAddress
                    isEqual = count > 0 && part.map { memcmp($0, memory, count) == 0 } ?? false
                    rest = rest.dropFirst(count)
                } catch { failure = error }
            }
            return isEqual && failure == nil
        }
        if let failure { throw failure }
        guard found else { return nil }
        guard isEqual else { return false }
        return try next(buffer) == 0
    }

    /// Lends a pipe into which a separate thread reads the value.
    private func withPipe<Result>(
        _ size: Int?, _ body: (PiecePipe) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let pipe = PiecePipe(size: size)
        // Not a thread of the pool: all of them may be waiting for a ring that the caller holds.
        try onOwnThread {
            do throws(StorageError) {
                let found = try read(.chunks) { pipe.write($0) }
                pipe.finish(found ? nil : StorageError(.notFound, "the value was removed"))
            } catch {
                pipe.finish(error)
            }
        }
        defer { pipe.close() }
        return try body(pipe)
    }
}
