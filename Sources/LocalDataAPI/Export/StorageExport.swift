internal import CLocalData
internal import FoundationEssentials

/// A store of some Swift type, as its table's C functions use it.
class AnyStorageExport {
    let abilities: StorageAbilities
    init(abilities: StorageAbilities) { self.abilities = abilities }

    func resolve(_ address: StorageAddress) throws -> UnsafeMutableRawPointer { throw StorageError(.unsupported) }
    func release(_ handle: UnsafeMutableRawPointer) {}
    func get(_ handle: UnsafeMutableRawPointer, _ sink: UnsafePointer<ld_sink>) throws -> Int32 { LD_ABSENT }
    func exists(_ handle: UnsafeMutableRawPointer) throws -> Int32 { LD_ABSENT }
    func set(_ handle: UnsafeMutableRawPointer, _ value: ld_bytes, _ attributes: ValueAttributes?) throws {}
    func remove(_ handle: UnsafeMutableRawPointer) throws -> Int32 { LD_ABSENT }
}

/// The resolved key behind a handle.
final class KeyBox<Key: Sendable> {
    let key: Key
    init(_ key: Key) { self.key = key }

    @inline(__always)
    static func key(_ handle: UnsafeMutableRawPointer) -> Key {
        Unmanaged<KeyBox<Key>>.fromOpaque(handle)._withUnsafeGuaranteedRef { $0.key }
    }
}

final class StorageExport<Backend: StorageBackend>: AnyStorageExport {
    private let backend: Backend

    init(_ backend: Backend) {
        self.backend = backend
        super.init(abilities: StorageAbilities(of: backend))
    }

    /// The table of this store; it keeps the store until `close`.
    var table: UnsafePointer<ld_store> {
        let properties = backend.properties
        let flags =
            (properties.isDurable ? LD_STORE_DURABLE : 0) | (properties.isShared ? LD_STORE_SHARED : 0)
            | (properties.isKeychain ? LD_STORE_KEYCHAIN : 0)
            | (properties.keepsFoldersApart ? LD_STORE_FOLDERS_APART : 0)
        return .immortal(
            ld_store(
                size: UInt32(MemoryLayout<ld_store>.size), latency: properties.latency.rawValue, flags: flags,
                enforces: properties.enforces, largest_value: properties.largestValue ?? 0,
                self: Unmanaged<AnyStorageExport>.passRetained(self).toOpaque(), resolve: resolveKey,
                release: releaseKey, get: getValue, exists: valueExists, set: setValue, remove: removeValue,
                extension: findAbility, close: closeStore))
    }

    override func resolve(_ address: StorageAddress) throws -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(KeyBox(try backend.resolve(address))).toOpaque()
    }

    override func release(_ handle: UnsafeMutableRawPointer) {
        Unmanaged<KeyBox<Backend.Key>>.fromOpaque(handle).release()
    }

    override func get(_ handle: UnsafeMutableRawPointer, _ sink: UnsafePointer<ld_sink>) throws -> Int32 {
        var stopped = false
        let found = try backend.get(KeyBox<Backend.Key>.key(handle)) { stopped = !sink.send($0) }
        return stopped ? LD_STOPPED : found ? LD_OK : LD_ABSENT
    }

    override func exists(_ handle: UnsafeMutableRawPointer) throws -> Int32 {
        try backend.exists(KeyBox<Backend.Key>.key(handle)) ? LD_OK : LD_ABSENT
    }

    override func set(_ handle: UnsafeMutableRawPointer, _ value: ld_bytes, _ attributes: ValueAttributes?) throws {
        try backend.set(KeyBox<Backend.Key>.key(handle), to: value.bytes().bytes, attributes: attributes)
    }

    override func remove(_ handle: UnsafeMutableRawPointer) throws -> Int32 {
        try backend.remove(KeyBox<Backend.Key>.key(handle)) ? LD_OK : LD_ABSENT
    }
}

extension UnsafePointer<ld_sink> {
    /// Passes bytes to the caller; `false` asks to stop.
    @inline(__always)
    package func send(_ bytes: RawSpan) -> Bool {
        bytes.withUnsafeBytes { buffer in
            pointee.write?(pointee.context, ld_bytes(data: buffer.baseAddress, count: buffer.count)) == 0
        }
    }
}
