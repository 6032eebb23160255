internal import FoundationEssentials
internal import LocalDataAPI

/// The value of one address of a store, behind its layers of sealing. Calls may wait unless stated otherwise.
struct SealedValue: Sendable {
    let store: LoadedStore
    let handle: StoreHandle
    /// Innermost first: the first one seals the value itself.
    let layers: [SealingLayer]
    /// The layers' rings record it before they seal anything; `nil` if the value does not outlive the process.
    let place: SealedPlace?
    /// Keeps the handle valid.
    let owner: any AnyObject & Sendable

    /// The value, or `nil` if there is none.
    func get() throws(StorageError) -> Data? {
        try store.get(handle).map { (data) throws(StorageError) in try open(data) }
    }

    /// Opens the bytes that the store keeps.
    func open(_ stored: Data) throws(StorageError) -> Data { try opened(stored).value }

    /// Opens the bytes that the store keeps, and returns the header of the innermost envelope too; `nil` without
    /// layers.
    func opened(_ stored: Data) throws(StorageError) -> (value: Data, header: EnvelopeHeader?) {
        var (data, inner): (Data, EnvelopeHeader?) = (stored, nil)
        for layer in layers.reversed() {
            (data, inner) = try layer.envelope.open(data) { (header) throws(StorageError) in try layer.find(header) }
        }
        return (data, inner)
    }

    /// The value if it is available without waiting. The outer `nil` means that it is not, the inner that there is no
    /// value.
    func getAtOnce() throws(StorageError) -> Data?? {
        guard var data = try store.get(handle) else { return .some(nil) }
        for layer in layers.reversed() {
            let header = try layer.envelope.header(of: data)
            guard layer.opensAtOnce(header) else { return nil }
            data = try layer.envelope.open(data, header) { (header) throws(StorageError) in try layer.find(header) }
        }
        return data
    }

    /// Seals a value and stores it.
    func set(_ value: Data, attributes: ValueAttributes?) throws(StorageError) {
        try layers.whileSealing(in: place) { (keys) throws(StorageError) in
            try store.set(handle, to: sealed(value, under: keys, attributes: attributes), attributes: attributes)
        }
    }

    /// Seals a value into the bytes that the store will keep.
    ///
    /// - Parameter keys: The keys that the layers lend.
    func sealed(
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
    func set(_ value: Data, attributes: ValueAttributes?, in view: StoreView) throws(StorageError) -> Bool {
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
    func write(
        attributes: ValueAttributes?, sealing sealed: ValueAttributes? = nil,
        from fill: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let outcome: Result<Void, any Error> = try layers.whileSealing(in: place) { (keys) throws(StorageError) in
            var fill = fill
            for (layer, key) in zip(layers, keys) {
                let source = try EnvelopeSource(
                    layer.envelope, under: key, as: layer.style, attributes: sealed ?? attributes, from: fill)
                fill = { try source.read(into: $0) }
            }
            return Result { try store.write(handle, attributes: attributes, from: fill) }
        }
        try outcome.get()
    }

    /// Removes the value; `false` if there was none.
    func remove() throws(StorageError) -> Bool {
        try layers.whileStanding { () throws(StorageError) in try store.remove(handle) }
    }
}

extension SealedValue {
    /// The value at an address, whose handle is released with the last copy of this.
    init(at address: StorageAddress, in open: OpenStore, layers: [SealingLayer]) throws(StorageError) {
        let held = HeldHandle(open.store, try open.store.resolve(address))
        self.init(
            store: open.store, handle: held.handle, layers: layers, place: open.sealedPlace(address.place), owner: held)
    }
}
