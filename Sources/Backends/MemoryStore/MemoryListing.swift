internal import FoundationEssentials
internal import LocalDataPluginAPI

/// The cells of a namespace in the order of their names, so that a page costs what it holds and not what the namespace
/// does.
struct MemoryListing {
    private var cells: [MemoryCell] = []
    /// Those that came after the last call of ``ordered()``.
    private var added: [MemoryCell] = []

    mutating func add(_ cell: MemoryCell) { added.append(cell) }

    /// All cells in order.
    mutating func ordered() -> [MemoryCell] {
        guard !added.isEmpty else { return cells }
        added.sort(by: Self.precedes)
        var merged: [MemoryCell] = []
        merged.reserveCapacity(cells.count + added.count)
        var next = 0
        for cell in cells {
            while next < added.count, Self.precedes(added[next], cell) {
                merged.append(added[next])
                next += 1
            }
            merged.append(cell)
        }
        merged.append(contentsOf: added[next...])
        cells = merged
        added = []
        return cells
    }

    /// Where the names with a prefix that come after another begin in cells in order.
    static func start(of prefix: String, after: String?, in cells: [MemoryCell]) -> Int {
        var (low, high) = (0, cells.count)
        while low < high {
            let middle = (low + high) / 2
            let name = cells[middle].address.name.utf8
            let isBefore = after.map { !$0.utf8.lexicographicallyPrecedes(name) } ?? false
            if isBefore || name.lexicographicallyPrecedes(prefix.utf8) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func precedes(_ left: MemoryCell, _ right: MemoryCell) -> Bool {
        left.address.name.utf8.lexicographicallyPrecedes(right.address.name.utf8)
    }
}
