internal import HostPlugins
public import LocalDataAPI

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
