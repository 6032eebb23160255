/// The smallest names of a listing, by their UTF-8 bytes, each once; memory for at most twice as many as are kept.
struct NamePage {
    /// Bytes of names from which on no more are kept than are asked for.
    private static let mostBytes = 16 << 20

    private let wanted: Int
    private var limit: Int
    private let prefix: [UInt8]
    private let after: [UInt8]?
    private var names: [[UInt8]] = []
    private var bytes = 0
    /// Names from here on are not among the smallest.
    private var bound: [UInt8]?
    /// Whether no name was left out that starts with the prefix and comes after the first.
    private(set) var isComplete = true

    /// Asks for at most `limit` names that start with `prefix` and come after `after`.
    ///
    /// - Parameter ahead: How many are kept if there is memory for them.
    init(prefix: String, after: String?, limit: Int?, ahead: Int = 0) {
        wanted = max(0, limit ?? .max)
        self.limit = max(wanted, ahead)
        self.prefix = Array(prefix.utf8)
        self.after = after.map { Array($0.utf8) }
    }

    /// Takes a name in, if it is asked for.
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
