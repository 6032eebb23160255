/// The result of switching domains to another store, or the plan for it.
public struct StoreSwitchReport: Encodable, Sendable {
    /// What left one store.
    public struct Part: Encodable, Sendable {
        /// The former store.
        public let from: String
        /// The domains that it served.
        public let domains: [String]
        /// The number of values that were, or would be, copied from it.
        public internal(set) var copied = 0
        /// The number of values that were, or would be, removed from it.
        public internal(set) var removed = 0
        /// The addresses of values in it that somebody changed who does not follow the configuration, as another user.
        /// They stay there.
        public internal(set) var changed: [String] = []
    }

    /// The store that serves the domains now.
    public let to: String
    /// By former store.
    public internal(set) var parts: [Part]
    /// How long writers were held, in milliseconds; `nil` for a plan.
    public internal(set) var heldMilliseconds: Double?

    /// Whether nothing is left that a person has to look at.
    public var isComplete: Bool { parts.allSatisfy(\.changed.isEmpty) }
}
