internal import Glibc
package import LocalDataAPI

/// Information on plugins and stores, for tools.
extension StorageRouter {
    /// Every plugin of this program and on the search path, inspected again.
    package func plugins() async throws(StorageError) -> [PluginRecord] {
        let registry = try await snapshot().registry
        return try await onIOThread { () throws(StorageError) in registry.records(rescanning: .all) }
    }

    /// Every plugin of this program and on the search path, as it was inspected last.
    package func knownPlugins() async throws(StorageError) -> [PluginRecord] {
        let registry = try await snapshot().registry
        return try await onIOThread { () throws(StorageError) in registry.records() }
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

    /// The plugin that serves a component.
    ///
    /// - Parameter inFile: Whether only a file will do, and the program's own plugins are passed over.
    package func plugin(offering id: String, inFile: Bool = false) async throws(StorageError) -> PluginRecord {
        let choices = try await plugins().choices.filter { $0.id == id }
        func wanted(_ records: [PluginRecord]) -> [PluginRecord] { records.filter { !inFile || !$0.isLinked } }
        let serving = wanted(choices.flatMap(\.serving))
        let offering = serving.isEmpty ? wanted(choices.flatMap(\.unused)) : serving
        guard let record = offering.first, offering.count == 1 else {
            throw StorageError(
                offering.isEmpty ? .componentNotFound : .componentAmbiguous,
                "\(offering.isEmpty ? "no plugin offers" : "more than one plugin offers") the component '\(id)'",
                hint: "run: ld-host plugins list")
        }
        return record
    }

    /// The store, component and plugin that serve a domain, and why; `nil` for a domain of the host's own.
    ///
    /// - Throws: `invalidConfiguration` if the domain has no store; the error of opening the store.
    public func route(of domain: String) async throws -> DomainRoute? { try await access().route(of: domain) }
}
