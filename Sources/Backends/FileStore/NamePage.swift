/// The smallest names of a listing, by their UTF-8 bytes, each once; memory for at most twice as many as are asked for.
struct NamePage {
    private let limit: Int
    private let prefix: [UInt8]
    private let after: [UInt8]?
    private var names: [[UInt8]] = []
    /// Names from here on are not among the smallest.
    private var bound: [UInt8]?

    /// Asks for at most `limit` names that start with `prefix` and come after `after`.
    init(prefix: String, after: String?, limit: Int?) {
        self.limit = max(0, limit ?? .max)
        self.prefix = Array(prefix.utf8)
        self.after = after.map { Array($0.utf8) }
    }

    /// Takes a name in, if it is asked for.
    mutating func insert(_ name: String) {
        let name = Array(name.utf8)
        guard limit > 0, name.starts(with: prefix) else { return }
        if let after, !after.lexicographicallyPrecedes(name) { return }
        if let bound, !name.lexicographicallyPrecedes(bound) { return }
        names.append(name)
        if limit < .max / 2, names.count >= 2 * limit { shrink() }
    }

    /// The names in order.
    mutating func sorted() -> [String] {
        shrink()
        return names.map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func shrink() {
        names.sort { $0.lexicographicallyPrecedes($1) }
        var kept: [[UInt8]] = []
        for name in names where name != kept.last && kept.count < limit { kept.append(name) }
        if kept.count == limit { bound = kept.last }
        names = kept
    }
}
