public import LocalDataAPI
internal import LocalDataHost

/// Tries every promise of `CryptoProvider` and, for a provider that makes them, of `IncrementalCryptoProvider`.
///
/// ```swift
/// @Test func conforms() async throws {
///     let report = try await CryptoConformance.run(MyCrypto.self)
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// The provider is called through the same C tables as a host calls a plugin. What would copy the process by fork(2) is
/// skipped here; `ld-host plugins test FILE` does that too, and survives a provider that crashes or hangs.
public enum CryptoConformance {
    /// Tries a Swift type in this process. Each check opens a provider of its own.
    ///
    /// - Parameters:
    ///   - provider: The type.
    ///   - options: What a configuration would give.
    ///   - only: The ids of the checks to make; `nil` for all.
    /// - Throws: `invalidOptions` for an id of no check; `fileError` if there is no place for temporary files. What is
    ///   wrong with the provider is in the report.
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
