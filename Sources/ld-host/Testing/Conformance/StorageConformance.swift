internal import HostPlugins
public import LocalDataAPI

/// Tests every promise of `StorageBackend` and of the abilities that a store claims.
///
/// ```swift
/// @Test func conforms() async throws {
///     let report = try await StorageConformance.run(MyStore.self, options: ["path": .string("${data}/values")])
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// The store is called through the C tables that a host uses for plugins. Checks that need a second process are skipped
/// here; `ld-host plugins test FILE` runs them too, and survives a store that crashes or hangs.
public enum StorageConformance {
    /// Tests a Swift type in this process. Each check opens its own store. `${data}` and similar folders in options are
    /// below a temporary one, which is removed afterwards.
    ///
    /// - Parameters:
    ///   - backend: The type.
    ///   - options: The options that a configuration would set.
    ///   - only: The ids of the checks to run; `nil` for all.
    /// - Throws: `invalidOptions` for an unknown id; `fileError` if no temporary folder can be created. Faults of the
    ///   store are in the report.
    public static func run<Backend: StorageBackend>(
        _ backend: Backend.Type, options: [String: ComponentOption.Value] = [:], only: Set<String>? = nil
    ) async throws -> ConformanceReport {
        let checks = try ConformanceCheck.all(for: [.storage], only: only)
        let name = String(reflecting: backend)
        let table = Plugin.export(name, version: "0", .storage(backend))
        let image = try PluginImage(linked: table, name: name)
        let subject = try ConformanceSubject(image: image, component: backend.component.id, options: options)
        return try await ConformanceRun.report(on: subject, checks, source: name)
    }
}

/// An open component, for querying what it declares.
enum OpenComponent {
    case store(LoadedStore)
    case provider(LoadedCrypto)
    case pack(LoadedPack)
    case transport(LoadedTransport)

    func close() {
        switch self {
        case .store(let store): store.close()
        case .provider(let provider): provider.close()
        case .pack(let pack): pack.close()
        case .transport(let transport): transport.close()
        }
    }
}
