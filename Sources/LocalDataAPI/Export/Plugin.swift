internal import CLocalData
internal import FoundationEssentials
internal import Synchronization

/// Creates a plugin from Swift types.
///
/// A plugin needs only this and the type that does its work:
///
/// ```swift
/// @c(localdata_plugin_v1)
/// public func plugin() -> UnsafeRawPointer { Plugin.export("Hello", version: "1.0.0", .storage(HelloStore.self)) }
/// ```
public enum Plugin {
    /// A component that a plugin offers.
    public struct Component {
        let make: () -> UnsafePointer<ld_component>

        /// A store.
        public static func storage<Backend: StorageBackend>(_ backend: Backend.Type) -> Component {
            storage(backend) { try Backend(options: $0, host: $1) }
        }

        /// A store that is not created by its `init(options:host:)`.
        package static func storage<Backend: StorageBackend>(
            _ backend: Backend.Type, open: @escaping (ComponentOptions, HostServices) throws -> Backend
        ) -> Component {
            Component {
                .immortal(
                    ld_component(
                        size: UInt32(MemoryLayout<ld_component>.size), kind: LD_KIND_STORAGE,
                        id: backend.component.id.immortalBytes(), summary: backend.component.summary.immortalBytes(),
                        options: schema(backend.component.options),
                        context: Unmanaged.passRetained(StorageFactory(open)).toOpaque(), open: openStorage))
            }
        }

        /// A crypto provider.
        public static func crypto<Provider: CryptoProvider>(_ provider: Provider.Type) -> Component {
            Component {
                .immortal(
                    ld_component(
                        size: UInt32(MemoryLayout<ld_component>.size), kind: LD_KIND_CRYPTO,
                        id: provider.component.id.immortalBytes(),
                        summary: provider.component.summary.immortalBytes(),
                        options: schema(provider.component.options),
                        context: Unmanaged<AnyCryptoFactory>.passRetained(CryptoFactory<Provider>()).toOpaque(),
                        open: openCrypto))
            }
        }

        /// A sync transport.
        public static func sync<Transport: SyncTransport>(_ transport: Transport.Type) -> Component {
            Component {
                .immortal(
                    ld_component(
                        size: UInt32(MemoryLayout<ld_component>.size), kind: LD_KIND_SYNC,
                        id: transport.component.id.immortalBytes(),
                        summary: transport.component.summary.immortalBytes(),
                        options: schema(transport.component.options),
                        context: Unmanaged<AnySyncFactory>.passRetained(SyncFactory<Transport>()).toOpaque(),
                        open: openSync))
            }
        }

        /// A migration pack.
        public static func migrations<Pack: MigrationPack>(_ pack: Pack.Type) -> Component {
            Component {
                .immortal(
                    ld_component(
                        size: UInt32(MemoryLayout<ld_component>.size), kind: LD_KIND_MIGRATION,
                        id: pack.component.id.immortalBytes(), summary: pack.component.summary.immortalBytes(),
                        options: schema(pack.component.options),
                        context: Unmanaged<AnyMigrationFactory>.passRetained(MigrationFactory<Pack>()).toOpaque(),
                        open: openMigrations))
            }
        }
    }

    private struct Entry: @unchecked Sendable {
        // The table is written before it is published, and never changed or freed.
        let table: UnsafeRawPointer
    }

    private static let exported = Mutex<[String: Entry]>([:])

    /// The table that the entry function returns: the same one each time, valid until the process ends.
    ///
    /// - Parameters:
    ///   - name: The plugin's name, which is also the library's: `Hello` for `libHello.so`.
    ///   - version: The plugin's own version.
    ///   - components: The plugin's components, with distinct ids.
    public static func export(_ name: String, version: String, _ components: Component...) -> UnsafeRawPointer {
        exported.withLock { exported in
            if let entry = exported[name] { return entry }
            let list = UnsafeMutablePointer<UnsafePointer<ld_component>?>.allocate(capacity: components.count)
            for (index, component) in components.enumerated() {
                (list + index).initialize(to: component.make())
            }
            let table = UnsafePointer.immortal(
                ld_plugin(
                    size: UInt32(MemoryLayout<ld_plugin>.size), magic: LD_MAGIC, abi_major: UInt16(LD_ABI_MAJOR),
                    abi_minor: UInt16(LD_ABI_MINOR), name: name.immortalBytes(), version: version.immortalBytes(),
                    components: UnsafePointer(list), component_count: components.count))
            let entry = Entry(table: UnsafeRawPointer(table))
            exported[name] = entry
            return entry
        }.table
    }

    private static func schema(_ options: [ComponentOption]) -> ld_bytes {
        // A list of plain values always encodes; the host would refuse an empty one with a clear message.
        ((try? JSONCoding.encode(options)) ?? Data()).immortalBytes()
    }
}

/// Opens a provider of one Swift type; a crypto component's `context` points to it.
class AnyCryptoFactory {
    func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_crypto> {
        throw StorageError(.unsupported)
    }
}

final class CryptoFactory<Provider: CryptoProvider>: AnyCryptoFactory {
    override func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_crypto> {
        let options = try ComponentOptions(json: Data(options.bytes()))
        return try CryptoExport(Provider(options: options, host: HostServices(host))).table
    }
}

func openCrypto(
    context: UnsafeMutableRawPointer?, host: UnsafePointer<ld_host>?, options: ld_bytes,
    table: UnsafeMutablePointer<UnsafeRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let context, let table else { throw StorageError(.unsupported, "open was called without a context") }
        let factory = Unmanaged<AnyCryptoFactory>.fromOpaque(context).takeUnretainedValue()
        table.pointee = UnsafeRawPointer(try factory.open(options: options, host: host))
        return LD_OK
    }
}

/// Opens a pack of one Swift type; a migration component's `context` points to it.
class AnyMigrationFactory {
    func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_migration_pack> {
        throw StorageError(.unsupported)
    }
}

final class MigrationFactory<Pack: MigrationPack>: AnyMigrationFactory {
    override func open(
        options: ld_bytes, host: UnsafePointer<ld_host>?
    ) throws -> UnsafePointer<ld_migration_pack> {
        let options = try ComponentOptions(json: Data(options.bytes()))
        return try MigrationExport(Pack(options: options, host: HostServices(host))).table
    }
}

func openMigrations(
    context: UnsafeMutableRawPointer?, host: UnsafePointer<ld_host>?, options: ld_bytes,
    table: UnsafeMutablePointer<UnsafeRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let context, let table else { throw StorageError(.unsupported, "open was called without a context") }
        let factory = Unmanaged<AnyMigrationFactory>.fromOpaque(context).takeUnretainedValue()
        table.pointee = UnsafeRawPointer(try factory.open(options: options, host: host))
        return LD_OK
    }
}

/// Opens a store of one Swift type; a component's `context` points to it.
class AnyStorageFactory {
    func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_store> {
        throw StorageError(.unsupported)
    }
}

final class StorageFactory<Backend: StorageBackend>: AnyStorageFactory {
    private let make: (ComponentOptions, HostServices) throws -> Backend

    init(_ make: @escaping (ComponentOptions, HostServices) throws -> Backend) { self.make = make }

    override func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_store> {
        let options = try ComponentOptions(json: Data(options.bytes()))
        return try StorageExport(make(options, HostServices(host))).table
    }
}

func openStorage(
    context: UnsafeMutableRawPointer?, host: UnsafePointer<ld_host>?, options: ld_bytes,
    table: UnsafeMutablePointer<UnsafeRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let context, let table else { throw StorageError(.unsupported, "open was called without a context") }
        let factory = Unmanaged<AnyStorageFactory>.fromOpaque(context).takeUnretainedValue()
        table.pointee = UnsafeRawPointer(try factory.open(options: options, host: host))
        return LD_OK
    }
}
