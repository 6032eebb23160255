public import LocalDataAPI
internal import LocalDataHost

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

/// Tests every promise of `CryptoProvider` and, for a provider that offers them, of `SigningProvider` and of ciphers in
/// pieces.
///
/// ```swift
/// @Test func conforms() async throws {
///     let report = try await CryptoConformance.run(MyCrypto.self)
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// The provider is called through the C tables that a host uses for plugins. Checks that need fork(2) are skipped here;
/// `ld-host plugins test FILE` runs them too, and survives a provider that crashes or hangs.
public enum CryptoConformance {
    /// Tests a Swift type in this process. Each check opens its own provider.
    ///
    /// - Parameters:
    ///   - provider: The type.
    ///   - options: The options that a configuration would set.
    ///   - only: The ids of the checks to run; `nil` for all.
    /// - Throws: `invalidOptions` for an unknown id; `fileError` if no temporary folder can be created. Faults of the
    ///   provider are in the report.
    public static func run<Provider: CryptoProvider>(
        _ provider: Provider.Type, options: [String: ComponentOption.Value] = [:], only: Set<String>? = nil
    ) async throws -> ConformanceReport {
        let checks = try ConformanceCheck.all(for: [.crypto], only: only)
        let name = String(reflecting: provider)
        let image = try PluginImage(linked: Plugin.export(name, version: "0", .crypto(provider)), name: name)
        let subject = try ConformanceSubject(image: image, component: provider.component.id, options: options)
        return try await ConformanceRun.report(on: subject, checks, source: name)
    }
}

/// Tests every promise of `MigrationPack`.
///
/// ```swift
/// @Test func conforms() async throws {
///     let report = try await MigrationConformance.run(MyPack.self)
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// The pack is called through the C tables that a host uses for plugins. Its migrations run over generated values in
/// memory, of the types that its sources declare. How a migration converts real data is for tests of its own.
public enum MigrationConformance {
    /// Tests a Swift type in this process. Each check opens its own pack.
    ///
    /// - Parameters:
    ///   - pack: The type.
    ///   - options: The options that a configuration would set.
    ///   - only: The ids of the checks to run; `nil` for all.
    /// - Throws: `invalidOptions` for an unknown id; `fileError` if no temporary folder can be created. Faults of the
    ///   pack are in the report.
    public static func run<Pack: MigrationPack>(
        _ pack: Pack.Type, options: [String: ComponentOption.Value] = [:], only: Set<String>? = nil
    ) async throws -> ConformanceReport {
        let checks = try ConformanceCheck.all(for: [.migration], only: only)
        let name = String(reflecting: pack)
        let image = try PluginImage(linked: Plugin.export(name, version: "0", .migrations(pack)), name: name)
        let subject = try ConformanceSubject(image: image, component: pack.component.id, options: options)
        return try await ConformanceRun.report(on: subject, checks, source: name)
    }
}

/// Tests every promise of `SyncTransport`.
///
/// ```swift
/// @Test func conforms() async throws {
///     let report = try await SyncConformance.run(MyTransport.self, options: ["path": .string("${data}/shared")])
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// The transport is called through the C tables that a host uses for plugins. Devices are transports with the same
/// options. Checks use writers of their own, so that the other side need not be empty, and remove what they published.
public enum SyncConformance {
    /// Tests a Swift type in this process. Each check opens its own transports. `${data}` and similar folders in
    /// options are below a temporary one, which is removed afterwards.
    ///
    /// - Parameters:
    ///   - transport: The type.
    ///   - options: The options that a configuration would set.
    ///   - only: The ids of the checks to run; `nil` for all.
    /// - Throws: `invalidOptions` for an unknown id; `fileError` if no temporary folder can be created. Faults of the
    ///   transport are in the report.
    public static func run<Transport: SyncTransport>(
        _ transport: Transport.Type, options: [String: ComponentOption.Value] = [:], only: Set<String>? = nil
    ) async throws -> ConformanceReport {
        let checks = try ConformanceCheck.all(for: [.sync], only: only)
        let name = String(reflecting: transport)
        let image = try PluginImage(linked: Plugin.export(name, version: "0", .sync(transport)), name: name)
        let subject = try ConformanceSubject(image: image, component: transport.component.id, options: options)
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
