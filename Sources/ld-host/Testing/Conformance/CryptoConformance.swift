internal import HostPlugins
public import LocalDataAPI

/// Tests every promise of `CryptoProvider` and, for a provider that offers signatures, of `SigningProvider`.
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
