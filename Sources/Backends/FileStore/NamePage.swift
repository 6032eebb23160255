/// The smallest names of a listing, by their UTF-8 bytes, each once. Holds at most twice as many as it keeps.
struct NamePage {
    /// Above this many bytes of names, only the requested names are kept.
    private static let mostBytes = 16 << 20

    private let wanted: Int
    private var limit: Int
    private let prefix: [UInt8]
    private let after: [UInt8]?
    private var names: [[UInt8]] = []
    private var bytes = 0
    /// Names from this one on are not among the smallest.
    private var bound: [UInt8]?
    /// Whether every name with the prefix and after the first one was kept.
    private(set) var isComplete = true

    /// Requests at most `limit` names that start with `prefix` and sort after `after`.
    ///
    /// - Parameter ahead: How many to keep if there is memory for them.
    init(prefix: String, after: String?, limit: Int?, ahead: Int = 0) {
        wanted = max(0, limit ?? .max)
        self.limit = max(wanted, ahead)
        self.prefix = Array(prefix.utf8)
        self.after = after.map { Array($0.utf8) }
    }

    /// Adds a name if it is requested.
    mutating func insert(_ name: String) {
        let name = Array(name.utf8)
        guard limit > 0, name.starts(with: prefix) else { return }
        if let after, !after.lexicographicallyPrecedes(name) { return }
        if let bound, !name.lexicographicallyPrecedes(bound) {
            isComplete = isComplete && bound == name
            return
        }
        names.append(name)
        bytes += name.count
        let isFull = limit < .max / 2 && names.count >= 2 * limit
        if isFull || limit > wanted && bytes > 2 * Self.mostBytes { shrink() }
    }

    /// The names in order.
    mutating func sorted() -> [[UInt8]] {
        shrink()
        return names
    }

    private mutating func shrink() {
        names.sort { $0.lexicographicallyPrecedes($1) }
        var kept: [[UInt8]] = []
        bytes = 0
        for name in names where name != kept.last {
            guard kept.count < limit, kept.count < wanted || bytes < Self.mostBytes else {
                isComplete = false
                limit = kept.count
                break
            }
            kept.append(name)
            bytes += name.count
        }
        if kept.count == limit { bound = kept.last }
        names = kept
    }
}
