internal import HostPlugins
public import LocalDataAPI

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
