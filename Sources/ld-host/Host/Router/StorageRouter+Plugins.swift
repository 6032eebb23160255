internal import Glibc
package import LocalDataAPI

/// Information on plugins and stores, for tools.
extension StorageRouter {
    /// Every plugin on the search path, inspected again.
    package func plugins() async throws(StorageError) -> [PluginRecord] {
        let registry = try await snapshot().registry
        return try await onIOThread { () throws(StorageError) in registry.survey(rescanning: .all) }
    }

    /// Every plugin on the search path, as it was inspected last.
    package func knownPlugins() async throws(StorageError) -> [PluginRecord] {
        let registry = try await snapshot().registry
        return try await onIOThread { () throws(StorageError) in registry.survey() }
    }

    /// One plugin's file, inspected in a child process.
    package func inspectPlugin(at path: String) async throws(StorageError) -> PluginRecord {
        let snapshot = try await snapshot()
        let inspector = PluginInspector(
            host: PluginInspector.installedHost, timeout: snapshot.settings.inspectionTimeout)
        return try await onIOThread { () throws(StorageError) in
            PluginRecord(
                candidate: .init(path: path, origin: "named", isNamed: true), location: nil,
                result: Result { () throws(StorageError) in try inspector.inspect(path) })
        }
    }

    /// The plugin on the search path that offers a component.
    package func plugin(offering id: String) async throws(StorageError) -> PluginRecord {
        let records = try await plugins()
        let offering = records.filter { $0.description?.components.contains { $0.id == id } ?? false }
        guard let record = offering.first, offering.count == 1 else {
            throw StorageError(
                offering.isEmpty ? .componentNotFound : .componentAmbiguous,
                "\(offering.isEmpty ? "no plugin offers" : "more than one plugin offers") the component '\(id)'",
                hint: "run: ld-host plugins list")
        }
        return record
    }

    /// The store, component and plugin that serve a domain, and why: `'file' of libFileStore.so serves userDefaults:
    /// named in FILE:3`.
    public func explanation(of domain: String) async throws -> String {
        try await access().explanation(of: domain)
    }
}
