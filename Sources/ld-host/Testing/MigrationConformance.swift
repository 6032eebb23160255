public import LocalDataAPI
internal import LocalDataHost

/// Tries every promise of `MigrationPack`.
///
/// ```swift
/// @Test func conforms() async throws {
///     let report = try await MigrationConformance.run(MyPack.self)
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// The pack is called through the same C tables as a host calls a plugin. Its migrations run over values in memory,
/// which are made by the types that its sources name: what a migration makes of real data is for tests of its own.
public enum MigrationConformance {
    /// Tries a Swift type in this process. Each check opens a pack of its own.
    ///
    /// - Parameters:
    ///   - pack: The type.
    ///   - options: What a configuration would give.
    ///   - only: The ids of the checks to make; `nil` for all.
    /// - Throws: `invalidOptions` for an id of no check; `fileError` if there is no place for temporary files. What is
    ///   wrong with the pack is in the report.
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
