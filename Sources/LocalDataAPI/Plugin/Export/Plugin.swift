internal import CLocalData
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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

        package init(
            _ kind: Int32, _ info: @escaping @autoclosure () -> ComponentInfo,
            open: @escaping (ComponentOptions, HostServices) throws -> UnsafeRawPointer
        ) {
            make = {
                let info = info()
                return .immortal(
                    ld_component(
                        size: UInt32(MemoryLayout<ld_component>.size), kind: kind, id: info.id.immortalBytes(),
                        summary: info.summary.immortalBytes(), options: schema(info.options),
                        context: Unmanaged.passRetained(ComponentFactory(open)).toOpaque(), open: openComponent))
            }
        }

        /// A store.
        public static func storage<Backend: StorageBackend>(_ backend: Backend.Type) -> Component {
            storage(backend) { try Backend(options: $0, host: $1) }
        }

        /// A store that is not created by its `init(options:host:)`.
        package static func storage<Backend: StorageBackend>(
            _ backend: Backend.Type, open: @escaping (ComponentOptions, HostServices) throws -> Backend
        ) -> Component {
            Component(LD_KIND_STORAGE, backend.component) { UnsafeRawPointer(try StorageExport(open($0, $1)).table) }
        }

        /// A crypto provider.
        public static func crypto<Provider: CryptoProvider>(_ provider: Provider.Type) -> Component {
            Component(LD_KIND_CRYPTO, provider.component) {
                UnsafeRawPointer(try CryptoExport(Provider(options: $0, host: $1)).table)
            }
        }

        /// A sync transport.
        public static func sync<Transport: SyncTransport>(_ transport: Transport.Type) -> Component {
            Component(LD_KIND_SYNC, transport.component) {
                UnsafeRawPointer(try SyncExport(Transport(options: $0, host: $1)).table)
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
    ///   - name: The plugin's name, as a rule its library's: `MyStore` for `libMyStore.so`.
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

/// Opens a component of one Swift type; the component's `context` points to it.
private final class ComponentFactory {
    let open: (ComponentOptions, HostServices) throws -> UnsafeRawPointer

    init(_ open: @escaping (ComponentOptions, HostServices) throws -> UnsafeRawPointer) { self.open = open }
}

private func openComponent(
    context: UnsafeMutableRawPointer?, host: UnsafePointer<ld_host>?, options: ld_bytes,
    table: UnsafeMutablePointer<UnsafeRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let context, let table else { throw StorageError(.unsupported, "open was called without a context") }
        let factory = Unmanaged<ComponentFactory>.fromOpaque(context).takeUnretainedValue()
        table.pointee = try factory.open(ComponentOptions(json: Data(options.bytes())), HostServices(host))
        return LD_OK
    }
}
