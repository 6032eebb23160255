internal import Glibc
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

    /// When and of what a report was made.
    public struct Origin: Encodable, Sendable {
        /// The time in UTC: `2026-01-31T12:00:00Z`.
        public let time: String
        /// The name of the machine.
        public let host: String
        /// The version of the host that made it.
        public let version: String
        /// The files and flags that were the configuration, besides the built-in defaults; the later ones win.
        public let configuration: [String]
    }

    /// When and of what it was made.
    public let origin: Origin
    /// The keys, in order of their locations, and of their names' bytes.
    public let entries: [AuditEntry]
    /// The keys of each scope of a domain together, in order. They count those as well that are not in ``entries``.
    public let locations: [AuditLocation]
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
        try await make(of: router, in: .everything) { _ in }
    }

    /// The audit of some of what is stored, which hands out each key as it comes, so that not all are in memory.
    ///
    /// - Parameters:
    ///   - selection: The keys.
    ///   - limit: How many keys of each location are in ``entries`` besides those of catalogs; `nil` for all.
    ///   - take: Gets each key, in the order of ``entries``.
    /// - Throws: As ``make(of:)``; `invalidConfiguration` if no store serves the one selected domain.
    public static func make(
        of router: StorageRouter, in selection: StorageSelection, keeping limit: Int? = nil,
        _ take: (AuditEntry) -> Void
    ) async throws -> StorageAuditReport {
        let snapshot = try await router.snapshot()
        let origin = Origin(await router.layers())
        var maker = AuditMaker(router: router, snapshot: snapshot, selection: selection)
        return try await maker.report(origin, keeping: limit, take)
    }

    /// The same without the keys, which were handed out.
    package var withoutEntries: StorageAuditReport {
        StorageAuditReport(origin: origin, entries: [], locations: locations, routes: routes, failures: failures)
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

    /// The report as text: where it is from, the routes, the failures, then a line for each location.
    public func text() -> String {
        AuditText.origin(origin) + "\n" + AuditText.routes(self) + AuditText.failures(self) + "\n"
            + AuditText.locations(self)
    }

    /// The report as one HTML page that needs nothing else.
    public func html() -> String { AuditPage(self).text }
}

extension StorageAuditReport.Origin {
    fileprivate init(_ layers: [String]) {
        var name = [CChar](repeating: 0, count: 256)
        let isNamed = gethostname(&name, name.count - 1) == 0
        var seconds = timespec()
        clock_gettime(CLOCK_REALTIME, &seconds)
        self.init(
            time: UTCTime.seconds(Int64(seconds.tv_sec)),
            host: isNamed ? String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "",
            version: HostVersion.current, configuration: layers)
    }
}

extension StorageRouter {
    /// Where the configuration comes from, besides the built-in defaults.
    fileprivate func layers() async -> [String] {
        let layers = (try? await configuration())?.layered.layers ?? []
        return layers.filter { $0.name != .default }.map(\.source)
    }
}
