import DurableFiles
import LocalDataPluginAPI

/// The smallest names of a listing, by their UTF-8 bytes, each once. Holds at most twice as many as it keeps.
struct NamePage {
    /// The most memory for names beyond the requested ones: a pass over more lists the folder again for each of them.
    private static let most = 16 << 20

    private let wanted: Int
    private var limit: Int
    private let prefix: [UInt8]
    private let after: [UInt8]?
    private var names = NameList()
    /// Names from this one on are not among the smallest.
    private var bound: [UInt8]?
    /// Whether every name with the prefix and after the first one was kept.
    private(set) var isComplete = true

    /// Requests at most `limit` names that start with `prefix` and sort after `after`.
    ///
    /// - Parameter isAhead: Whether to keep more if there is memory for them.
    init(prefix: String, after: String?, limit: Int?, isAhead: Bool = false) {
        wanted = max(0, limit ?? .max)
        self.limit = isAhead ? .max : wanted
        self.prefix = Array(prefix.utf8)
        self.after = after.map { Array($0.utf8) }
    }

    /// Adds a name if it is requested.
    mutating func insert(_ name: String) {
        let bytes = name.utf8
        guard limit > 0, bytes.starts(with: prefix) else { return }
        if let after, !after.lexicographicallyPrecedes(bytes) { return }
        if let bound, !bytes.lexicographicallyPrecedes(bound) {
            isComplete = isComplete && bytes.elementsEqual(bound)
            return
        }
        names.append(bytes)
        let isFull = limit < .max / 2 && names.count >= 2 * limit
        if isFull || limit > wanted && names.size > 2 * Self.most { shrink() }
    }

    /// The names in order.
    mutating func sorted() -> NameList {
        shrink()
        return names
    }

    private mutating func shrink() {
        var isWhole = true
        names = names.sorted { kept in
            isWhole = kept.count < limit && (kept.count < wanted || kept.size < Self.most)
            return isWhole
        }
        if !isWhole { (isComplete, limit) = (false, names.count) }
        if names.count == limit, limit > 0 { bound = Array(names[limit - 1]) }
    }
}
