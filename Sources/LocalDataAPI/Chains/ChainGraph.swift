/// The types of a chain and the converters between them.
struct ChainGraph: Sendable {
    typealias Converter = @Sendable (any Sendable) async throws -> any Sendable

    /// A converter from one type to another.
    struct Edge: Sendable {
        let from: Int
        let to: Int
        let convert: Converter
    }

    /// The types; the first is the target.
    private(set) var versions: [ChainVersion]
    private(set) var edges: [Edge] = []
    private var indices: [ObjectIdentifier: Int] = [:]

    init(target: ChainVersion) {
        versions = [target]
        indices[target.id] = 0
    }

    /// The number of a type, which is added if it is new.
    ///
    /// - Parameter isNamed: Whether the version names its own tag, which then counts.
    mutating func add(_ version: ChainVersion, isNamed: Bool) -> Int {
        if let index = indices[version.id] {
            if isNamed { versions[index] = version }
            return index
        }
        indices[version.id] = versions.count
        versions.append(version)
        return versions.count - 1
    }

    /// The name of a type for messages: with the types that it is nested in, if another one has the same name.
    func name(_ index: Int) -> String {
        let version = versions[index]
        let isShared = versions.contains { $0.id != version.id && $0.name == version.name }
        return isShared ? version.fullName : version.name
    }

    mutating func connect(_ from: Int, to: Int, _ convert: @escaping Converter) {
        edges.append(Edge(from: from, to: to, convert: convert))
    }
}

/// Checking a chain, and finding the way to its target.
extension ChainGraph {
    /// The edge to take from each type, on the shortest way to the target; `nil` for the target, and for types that
    /// do not lead there.
    ///
    /// - Throws: `duplicateConverter`, `converterCycle`, or `ambiguous` for two types with one tag and for two ways of
    ///   the same length.
    func routes() throws(MigrationError) -> [Int?] {
        try requireOwnTags()
        try requireSingleEdges()
        try requireNoCycle()
        var distances = [Int?](repeating: nil, count: versions.count)
        var routes = [Int?](repeating: nil, count: versions.count)
        distances[0] = 0
        var reached = [0]
        while !reached.isEmpty {
            var next: [Int] = []
            for (number, edge) in edges.enumerated() where reached.contains(edge.to) {
                guard let distance = distances[edge.to] else { continue }
                switch distances[edge.from] {
                case nil:
                    distances[edge.from] = distance + 1
                    routes[edge.from] = number
                    next.append(edge.from)
                case distance + 1:
                    guard let other = routes[edge.from].map({ edges[$0].to }) else { continue }
                    throw MigrationError(
                        .ambiguous,
                        "\(name(edge.from)) comes to \(name(0)) in \(distance + 1) steps by "
                            + "\(name(other)) and by \(name(edge.to)); register a direct converter, "
                            + "or remove one of the two")
                default: continue
                }
            }
            reached = next
        }
        return routes
    }

    private func requireOwnTags() throws(MigrationError) {
        var known: [String: Int] = [:]
        for (index, version) in versions.enumerated() {
            guard let other = known.updateValue(index, forKey: version.tag) else { continue }
            // The target is the first; the others are in the order in which they were registered.
            let (later, earlier) = other == 0 ? (0, index) : (index, other)
            throw MigrationError(
                .ambiguous,
                "\(name(earlier)) and \(name(later)) both have the version '\(version.tag)'; let the older type keep "
                    + "it, as values are stored with it, and give the newer one another: let it be a VersionedValue "
                    + "with a 'static let version'")
        }
    }

    private func requireSingleEdges() throws(MigrationError) {
        var known: Set<[Int]> = []
        for edge in edges where !known.insert([edge.from, edge.to]).inserted {
            throw MigrationError(
                .duplicateConverter,
                "the converter from \(name(edge.from)) to \(name(edge.to)) is registered twice")
        }
    }

    private func requireNoCycle() throws(MigrationError) {
        // Types without an edge into them are removed again and again; what is left leads in circles.
        var left = edges
        while true {
            let entered = Set(left.map(\.to))
            let rest = left.filter { entered.contains($0.from) }
            guard rest.count < left.count else { break }
            left = rest
        }
        guard !left.isEmpty else { return }
        let leaving = Set(left.map(\.from))
        let names = leaving.intersection(left.map(\.to)).sorted().map { name($0) }
        throw MigrationError(
            .converterCycle, "the converters lead in a circle: \(names.joined(separator: ", "))")
    }
}
