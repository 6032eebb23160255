/// What a type makes of a document that it decodes: which of the members it reads, and what it writes in their place.
///
/// Nothing in it depends on how the document spells its values, or on the order of a list: that of a `Set`, or of a
/// dictionary by something else than text, is another one in each process. All elements of a list have one path.
struct ChainEvidence: Equatable {
    /// The paths of the values that the type reads.
    private(set) var read: Set<String> = []
    /// The paths of the values that it adds.
    private(set) var supplied: Set<String> = []
    /// The paths of the values that it writes as something else.
    private(set) var changed: Set<String> = []

    /// A type that cannot write what it has read: nothing shows what that was.
    init() {}

    /// - Parameters:
    ///   - given: The document.
    ///   - again: What the type writes after reading it.
    init(of given: ValueTree, _ again: ValueTree) { compare(given.canonical, again.canonical, at: "") }

    fileprivate init(canonical given: ValueTree, _ again: ValueTree) { compare(given, again, at: "") }

    /// Whether the document is rather one of this type: it reads more of it, or as much and adds or changes less.
    func isStronger(than other: ChainEvidence) -> Bool {
        if read != other.read { return read.isStrictSuperset(of: other.read) }
        if supplied != other.supplied { return supplied.isStrictSubset(of: other.supplied) }
        return changed.isStrictSubset(of: other.changed)
    }

    /// Whether the type reads less than another one and adds nothing to it that the other one does not: reading the
    /// document as this type would only lose something.
    func onlyLoses(against other: ChainEvidence) -> Bool {
        read.isStrictSubset(of: other.read) && supplied.isSubset(of: other.supplied)
    }
}

extension ChainEvidence {
    /// More pairs of elements are not compared; then the order counts.
    private static let mostPairs = 10_000

    private mutating func compare(_ given: ValueTree, _ again: ValueTree, at path: String) {
        read.insert(path)
        switch (given, again) {
        case (.members(let given), .members(let again)):
            for (name, value) in given {
                if let other = again[name] { compare(value, other, at: "\(path)\0\(name)") }
            }
            for name in again.keys where given[name] == nil { supplied.insert("\(path)\0\(name)") }
        case (.list(let given), .list(let again)): compare(given, again, at: path)
        default: if given != again { changed.insert(path) }
        }
    }

    /// Pairs the elements of two lists: first those that are equal, then those that differ least.
    private mutating func compare(_ given: [ValueTree], _ again: [ValueTree], at path: String) {
        if given.count != again.count { changed.insert(path) }
        let inner = "\(path)\0\0"
        var counts: [ValueTree: Int] = [:]
        for element in again { counts[element, default: 0] += 1 }
        var left: [ValueTree] = []
        for element in given {
            if let count = counts[element], count > 0 {
                counts[element] = count - 1
                compare(element, element, at: inner)
            } else {
                left.append(element)
            }
        }
        guard !left.isEmpty else { return }
        var others = again.filter { element in
            guard let count = counts[element], count > 0 else { return false }
            counts[element] = count - 1
            return true
        }
        let isPaired = left.count * others.count <= Self.mostPairs
        for element in left where !others.isEmpty {
            let distances = isPaired ? others.map { element.distance(to: $0) } : []
            let nearest = distances.indices.min { distances[$0] < distances[$1] } ?? 0
            compare(element, others.remove(at: nearest), at: inner)
        }
    }

    /// How many differences it shows.
    fileprivate var differences: Int { supplied.count + changed.count }
}

extension ValueTree {
    /// How much differs in what a type has written for this value.
    fileprivate func distance(to again: ValueTree) -> Int {
        let whole = ChainEvidence(canonical: self, self).read.count
        let evidence = ChainEvidence(canonical: self, again)
        return whole - evidence.read.count + evidence.differences
    }
}
