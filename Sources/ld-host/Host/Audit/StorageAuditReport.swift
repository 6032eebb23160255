public import LocalDataAPI

/// What is stored, where, by which plugin, how protected, and who answers for it: every key of the registered catalogs,
/// also those never written, and every stored value that no catalog lists. Values are never read.
public struct StorageAuditReport: Encodable, Sendable {
    /// A domain's way to its store and plugin.
    public struct Route: Encodable, Sendable {
        /// The domain.
        public let domain: String
        /// The store that serves it.
        public let store: String
        /// The store's component.
        public let component: String
        /// The plugin's file; `nil` if the store cannot be opened.
        public let plugin: String?
        /// Where the store was chosen.
        public let why: String
        /// What becomes of the store's values, e.g. `durable`; `nil` if the store cannot be opened.
        public let durability: String?
        /// How the store seals its values, against whom that protects and against whom not; `nil` for not at all.
        public let sealing: String?
        /// Why the store cannot be opened, if so.
        public let problem: String?
    }

    /// The keys, in order of their addresses.
    public let entries: [AuditEntry]
    /// Every domain's route, in order of the domains.
    public let routes: [Route]
    /// What could not be listed or looked at, and why: the report lacks what these stores hold. Empty if it is
    /// complete.
    public let failures: [String]

    /// The audit of a router: its registered catalogs, and those that its configuration names.
    ///
    /// - Throws: What keeps the router's configuration from being loaded. A store that cannot be asked is part of the
    ///   report: see ``failures``.
    public static func make(of router: StorageRouter = .shared) async throws -> StorageAuditReport {
        var maker = AuditMaker(router: router, snapshot: try await router.snapshot())
        return try await maker.report()
    }

    /// The keys of one catalog as text, without looking at any store.
    public static func renderText(_ catalog: some StorageKeyCatalog) -> String {
        AuditText.catalog(catalog.name, catalog.allKeys.map(\.descriptor))
    }

    /// All keys of all registered catalogs as text, one flat list; what keeps it from being made, if something does.
    public static func renderGlobalRegistry(of router: StorageRouter = .shared) async -> String {
        do { return try await AuditText.flat(make(of: router)) } catch { return AuditText.failure(error) }
    }

    /// All keys of all registered catalogs as text, grouped by catalog; what keeps it from being made, if something
    /// does.
    public static func renderGlobalRegistryGrouped(of router: StorageRouter = .shared) async -> String {
        do { return try await AuditText.grouped(make(of: router)) } catch { return AuditText.failure(error) }
    }

    /// The report as text: the routes, the failures, then the keys grouped by catalog.
    public func text() -> String {
        AuditText.routes(self) + AuditText.failures(self) + "\n" + AuditText.grouped(self)
    }

    /// The report as one HTML page that needs nothing else.
    public func html() -> String { AuditPage(self).text }
}
