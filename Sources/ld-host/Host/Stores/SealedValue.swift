internal import FoundationEssentials
internal import LocalDataAPI

/// The value of one address of a store, behind its layers of sealing. Calls may wait, where nothing else is said.
struct SealedValue: Sendable {
    let store: LoadedStore
    let handle: StoreHandle
    /// Innermost first: the first one seals the value itself.
    let layers: [SealingLayer]
    /// Remembered by the rings of the layers before anything is sealed; `nil` if it does not outlive the process.
    let place: SealedPlace?
    /// Keeps the handle valid.
    let owner: any AnyObject & Sendable

    /// The value, or `nil` if there is none.
    func get() throws(StorageError) -> Data? {
        try store.get(handle).map { (data) throws(StorageError) in try open(data) }
    }

    /// The value in bytes that the store keeps.
    func open(_ stored: Data) throws(StorageError) -> Data { try opened(stored).value }

    /// The same, with the header of the innermost envelope; `nil` without layers.
    func opened(_ stored: Data) throws(StorageError) -> (value: Data, header: EnvelopeHeader?) {
        var (data, inner): (Data, EnvelopeHeader?) = (stored, nil)
        for layer in layers.reversed() {
            (data, inner) = try layer.envelope.open(data) { (header) throws(StorageError) in try layer.find(header) }
        }
        return (data, inner)
    }

    /// The value if it can be had without waiting. The outer `nil` means that it cannot, the inner that there is none.
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

    /// A value in the bytes that the store is to keep.
    ///
    /// - Parameter keys: Those that the layers lend.
    func sealed(
        _ value: Data, under keys: [EnvelopeKey], attributes: ValueAttributes?
    ) throws(StorageError) -> Data {
        var data = value
        for (layer, key) in zip(layers, keys) {
            data = try layer.envelope.seal(data, under: key, as: layer.style, attributes: attributes)
        }
        return data
    }

    /// Seals a value and stores it if what a view has read is still so; the view is used up.
    ///
    /// - Returns: Whether it was; if not, nothing has changed.
    func set(_ value: Data, attributes: ValueAttributes?, in view: StoreView) throws(StorageError) -> Bool {
        try layers.whileSealing(in: place) { (keys) throws(StorageError) in
            let data = try sealed(value, under: keys, attributes: attributes)
            return try view.apply([StorageChange(key: handle, value: data, attributes: attributes)])
        }
    }

    /// Seals a value that comes in pieces and stores it, in bounded memory if the store streams.
    ///
    /// - Parameters:
    ///   - attributes: What the store keeps.
    ///   - sealed: What the envelopes carry; the same if `nil`.
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
    /// The value at an address, whose handle is given back with the last copy of this.
    init(at address: StorageAddress, in open: OpenStore, layers: [SealingLayer]) throws(StorageError) {
        let held = HeldHandle(open.store, try open.store.resolve(address))
        self.init(
            store: open.store, handle: held.handle, layers: layers, place: open.sealedPlace(address.place), owner: held)
    }
}
