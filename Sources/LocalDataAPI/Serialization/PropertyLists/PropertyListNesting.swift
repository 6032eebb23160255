#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    package import Foundation
#endif

/// Computes how the objects of a binary property list nest, visiting each once.
struct PropertyListNesting {
    private enum Standing {
        case isNew
        case isOpen
        /// The depth of nested lists and dictionaries, and the number of values if each reference is expanded.
        case known(depth: Int, values: Int)
    }

    private let list: BinaryPropertyList
    private let deepest: Int
    private var standings: [Standing]
    private var references = 0

    /// Refuses a list with an object that refers outside of it, contains itself, nests too deep, or is referenced so
    /// often that a small list would become a large value. An encoder writes each list and dictionary once per use.
    static func check(_ list: BinaryPropertyList, deepest: Int) throws(PropertyListFault) {
        var nesting = PropertyListNesting(list: list, deepest: deepest)
        _ = try nesting.look(at: list.top, above: 0)
    }

    private init(list: BinaryPropertyList, deepest: Int) {
        self.list = list
        self.deepest = deepest
        standings = Array(repeating: .isNew, count: list.count)
    }

    private mutating func look(
        at index: Int, above: Int
    ) throws(PropertyListFault) -> (depth: Int, values: Int) {
        guard standings.indices.contains(index) else { throw .damaged }
        switch standings[index] {
        case .known(let depth, let values):
            guard above + depth <= deepest else { throw .tooDeep(deepest) }
            return (depth, values)
        case .isOpen: throw .circular
        case .isNew: standings[index] = .isOpen
        }
        let object = try list.object(index)
        var (depth, values) = (0, 1)
        if object.kind.isContainer {
            guard above < deepest else { throw .tooDeep(deepest) }
            let elements = try list.references(of: object)
            references += elements.count
            // Each reference takes at least one byte of its own.
            guard references <= list.size else { throw .damaged }
            for element in elements {
                let inner = try look(at: element, above: above + 1)
                (depth, values) = (max(depth, inner.depth), values + inner.values)
                guard values <= list.size else { throw .repeated }
            }
            depth += 1
        }
        standings[index] = .known(depth: depth, values: values)
        return (depth, values)
    }
}
