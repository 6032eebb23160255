/// The state of the migration ledgers, page by page: each destination has a page, in its own store.
public struct LedgerReport: Codable, Hashable, Sendable {
    /// The state of a page.
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// The page can be read.
        case sound
        /// The page is corrupt. It can be put aside.
        case damaged
        /// The page may be sound but cannot be read here: its key is absent, or a later program wrote it. It stays.
        case unreadable
        /// The page was corrupt and has now been put aside.
        case putAside
    }

    /// One page.
    public struct Page: Codable, Hashable, Sendable {
        /// The store that holds the page.
        public let store: String
        /// The address of the page's destination.
        public let destination: String
        /// The page's state.
        public let state: State
        /// How many migrations the page records.
        public let rows: Int
        /// The problem of the page, the values in the stores, and the treatment of the page, in sentences.
        public let remarks: [String]

        init(store: String, destination: String, state: State, rows: Int, remarks: [String]) {
            self.store = store
            self.destination = destination
            self.state = state
            self.rows = rows
            self.remarks = remarks
        }
    }

    /// Ordered by store and destination.
    public let pages: [Page]
    /// Why the pages of a store cannot be listed.
    public let failures: [String]

    init(pages: [Page], failures: [String]) {
        self.pages = pages
        self.failures = failures
    }

    /// Whether every page could be read.
    public var isSound: Bool {
        failures.isEmpty && pages.allSatisfy { $0.state == .sound || $0.state == .putAside }
    }
}
