internal import Glibc
internal import HostGround
public import LocalDataAPI

/// What is stored, where, by which plugin, how it is protected, and who owns it: every key of the registered catalogs,
/// including those never written, and every stored value that no catalog lists. Of values, only the start is read, and
/// only of those that no catalog lists: to see whether they are sealed.
public struct StorageAuditReport: Encodable, Sendable {
    /// A domain's route to its store and plugin.
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
        /// How long the store keeps values, e.g. `durable`; `nil` if the store cannot be opened.
        public let durability: String?
        /// How the store seals its values, and which attackers that protects against; `nil` if it does not.
        public let sealing: String?
        /// Why the store cannot be opened, if it cannot.
        public let problem: String?
    }

    /// When and from what a report was made.
    public struct Origin: Encodable, Sendable {
        /// The time in UTC: `2026-01-31T12:00:00Z`.
        public let time: String
        /// The name of the machine.
        public let host: String
        /// The version of the host that made it.
        public let version: String
        /// The files and flags of the configuration, besides the built-in defaults; later ones override earlier ones.
        public let configuration: [String]
    }

    /// When and from what it was made.
    public let origin: Origin
    /// The keys, ordered by location and by their names' bytes.
    public let entries: [AuditEntry]
    /// A summary per scope of a domain, in order. It also counts keys that are not in ``entries``.
    public let locations: [AuditLocation]
    /// Every domain's route, in order of the domains.
    public let routes: [Route]
    /// What could not be listed or examined, and why: the report lacks the contents of these stores. Empty if it is
    /// complete.
    public let failures: [String]
    /// The values that no version of an app reads, which are in quarantine: the address, the time and the reason of
    /// each.
    public let quarantine: [String]
    /// What somebody should look at beside the keys: values that a store still has of domains that another one serves
    /// now, and files and folders that other users can write to.
    public internal(set) var findings: [String] = []

    /// The report without its keys, which were passed on separately.
    package var withoutEntries: StorageAuditReport {
        StorageAuditReport(
            origin: origin, entries: [], locations: locations, routes: routes, failures: failures,
            quarantine: quarantine, findings: findings)
    }

    /// The keys of one catalog as text, without accessing any store.
    public static func renderText(_ catalog: some StorageKeyCatalog) -> String {
        AuditText.catalog(catalog.name, catalog.allKeys.map(\.descriptor))
    }

    /// The report as text: its origin, the routes, the failures, then a line per location.
    public func text() -> String {
        AuditText.origin(origin) + "\n" + AuditText.routes(self) + AuditText.failures(self) + "\n"
            + AuditText.locations(self)
    }
}

extension StorageAuditReport: CustomStringConvertible {
    /// What ``text()`` returns.
    public var description: String { text() }
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
