internal import CLocalData

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The resolved key behind a handle.
final class KeyBox<Key: Sendable> {
    let key: Key
    init(_ key: Key) { self.key = key }

    @inline(__always)
    static func key(_ handle: UnsafeMutableRawPointer) -> Key {
        Unmanaged<KeyBox<Key>>.fromOpaque(handle)._withUnsafeGuaranteedRef { $0.key }
    }
}

/// A store, as the functions of its table `ld_store` find it behind the table's `self`.
final class StorageExport {
    let backend: any StorageBackend
    let abilities: StorageAbilities

    init(_ backend: any StorageBackend) {
        self.backend = backend
        abilities = StorageAbilities(of: backend)
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
                self: Unmanaged.passRetained(self).toOpaque(), resolve: resolveKey,
                release: releaseKey, get: getValue, exists: valueExists, set: setValue, remove: removeValue,
                extension: findAbility, close: closeStore))
    }
}

/// What is done with a key that the store has resolved and that the caller has behind a handle. In an extension, so
/// that a store of any type can be asked.
extension StorageBackend {
    @inline(__always)
    func key(_ handle: UnsafeMutableRawPointer?) throws -> Key { KeyBox<Key>.key(try checked(handle)) }

    func resolved(_ address: StorageAddress) throws -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(KeyBox(try resolve(address))).toOpaque()
    }

    func release(_ handle: UnsafeMutableRawPointer) { Unmanaged<KeyBox<Key>>.fromOpaque(handle).release() }

    func get(behind handle: UnsafeMutableRawPointer?, _ sink: UnsafePointer<ld_sink>) throws -> Int32 {
        var stopped = false
        let found = try get(key(handle)) { stopped = !sink.send($0) }
        return stopped ? LD_STOPPED : found ? LD_OK : LD_ABSENT
    }

    func exists(behind handle: UnsafeMutableRawPointer?) throws -> Int32 {
        try exists(key(handle)) ? LD_OK : LD_ABSENT
    }

    func set(behind handle: UnsafeMutableRawPointer?, _ value: ld_bytes, _ attributes: ValueAttributes?) throws {
        try set(key(handle), to: value.bytes().bytes, attributes: attributes)
    }

    func remove(behind handle: UnsafeMutableRawPointer?) throws -> Int32 {
        try remove(key(handle)) ? LD_OK : LD_ABSENT
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

// The C functions of an exported store's table. They are at file scope, so that no isolation is inferred for them.

/// Lends the store for the duration of `body`, without counting references: the table keeps it until `close`, and all
/// cores would contend for the count's cache line.
@inline(__always)
private func withStore<Result>(
    _ context: UnsafeMutableRawPointer?, _ body: (StorageExport) throws -> Result
) throws -> Result {
    guard let context else { throw StorageError(.unsupported, "a store was called without 'self'") }
    return try Unmanaged<StorageExport>.fromOpaque(context)._withUnsafeGuaranteedRef { try body($0) }
}

@inline(__always)
func checked(_ handle: UnsafeMutableRawPointer?) throws -> UnsafeMutableRawPointer {
    guard let handle else { throw StorageError(.invalidAddress, "a store was called without a handle") }
    return handle
}

func resolveKey(
    context: UnsafeMutableRawPointer?, address: UnsafePointer<ld_address>?,
    handle: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let address, let handle else { throw StorageError(.invalidAddress, "resolve was called without a key") }
        handle.pointee = try withStore(context) { try $0.backend.resolved(StorageAddress(address)) }
        return LD_OK
    }
}

func releaseKey(context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?) {
    if let handle { try? withStore(context) { $0.backend.release(handle) } }
}

func getValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "get was called without a sink") }
        return try withStore(context) { try $0.backend.get(behind: handle, sink) }
    }
}

func valueExists(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try withStore(context) { try $0.backend.exists(behind: handle) } }
}

func setValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, value: ld_bytes,
    attributes: UnsafePointer<ld_attributes>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try withStore(context) { try $0.backend.set(behind: handle, value, attributes.map { try ValueAttributes($0) }) }
        return LD_OK
    }
}

func removeValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try withStore(context) { try $0.backend.remove(behind: handle) } }
}

func findAbility(context: UnsafeMutableRawPointer?, id: ld_bytes) -> UnsafeRawPointer? {
    guard let id = id.text else { return nil }
    return try? withStore(context) { $0.abilities.table(id) }
}

func closeStore(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<StorageExport>.fromOpaque(context).release() }
}

/// The bits for what a keychain enforces: see `LD_ENFORCES_...` in the C header.
extension StoreProperties {
    package var enforces: UInt32 {
        get {
            let first = Self.bits(KeychainAccessibility.allCases, enforcedAccessibilities)
            return first | Self.bits(KeychainAccessControl.allCases, enforcedAccessControls) << 16
        }
        set {
            enforcedAccessibilities = Self.members(KeychainAccessibility.allCases, newValue)
            enforcedAccessControls = Self.members(KeychainAccessControl.allCases, newValue >> 16)
        }
    }

    private static func bits<Member>(_ all: [Member], _ members: Set<Member>) -> UInt32 {
        all.enumerated().reduce(0) { members.contains($1.element) ? $0 | 1 << UInt32($1.offset) : $0 }
    }

    private static func members<Member>(_ all: [Member], _ bits: UInt32) -> Set<Member> {
        Set(all.enumerated().filter { bits & 1 << UInt32($0.offset) != 0 }.map(\.element))
    }
}
