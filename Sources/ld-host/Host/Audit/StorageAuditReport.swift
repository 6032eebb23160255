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

    /// The same without the keys, which were handed out.
    package var withoutEntries: StorageAuditReport {
        StorageAuditReport(origin: origin, entries: [], locations: locations, routes: routes, failures: failures)
    }

    /// The keys of one catalog as text, without looking at any store.
    public static func renderText(_ catalog: some StorageKeyCatalog) -> String {
        AuditText.catalog(catalog.name, catalog.allKeys.map(\.descriptor))
    }

    /// The report as text: where it is from, the routes, the failures, then a line for each location.
    public func text() -> String {
        AuditText.origin(origin) + "\n" + AuditText.routes(self) + AuditText.failures(self) + "\n"
            + AuditText.locations(self)
    }
}

extension StorageAuditReport.Origin {
    init(_ layers: [String]) {
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
