/// What was found in the ledgers of migrations, page by page: each destination has a page, in its own store.
public struct LedgerReport: Codable, Hashable, Sendable {
    /// How a page is.
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// It can be read.
        case sound
        /// Its bytes are no page, or were changed. It can be put aside.
        case damaged
        /// It may be sound, and cannot be read here: its key is not at hand, or a later program wrote it. It stays.
        case unreadable
        /// It was damaged, and is put aside now.
        case putAside
    }

    /// One page.
    public struct Page: Codable, Hashable, Sendable {
        /// The store that it lies in.
        public let store: String
        /// The address of the destination that it is of.
        public let destination: String
        /// How it is.
        public let state: State
        /// How many migrations it has.
        public let rows: Int
        /// What is wrong with it, what is there in fact, and what becomes of that, in sentences.
        public let remarks: [String]

        init(store: String, destination: String, state: State, rows: Int, remarks: [String]) {
            self.store = store
            self.destination = destination
            self.state = state
            self.rows = rows
            self.remarks = remarks
        }
    }

    /// In order of their stores and destinations.
    public let pages: [Page]
    /// What keeps the pages of a store from being found.
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
