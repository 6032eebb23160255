public import LocalDataAPI
internal import LocalDataHost

/// Tries every promise of `StorageBackend` and of the abilities that a store claims.
///
/// ```swift
/// @Test func conforms() async throws {
///     let report = try await StorageConformance.run(MyStore.self, options: ["path": .string("${data}/values")])
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// The store is called through the same C tables as a host calls a plugin. What needs a second process is skipped here;
/// `ld-host plugins test FILE` does that too, and survives a store that crashes or hangs.
public enum StorageConformance {
    /// Tries a Swift type in this process. Each check opens a store of its own; folders that options name by `${data}`
    /// and the like are below a temporary one, which is removed.
    ///
    /// - Parameters:
    ///   - backend: The type.
    ///   - options: What a configuration would give.
    ///   - only: The ids of the checks to make; `nil` for all.
    /// - Throws: `invalidOptions` for an id of no check; `fileError` if there is no place for temporary files. What is
    ///   wrong with the store is in the report.
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
