import FoundationEssentials
import TestSupport
import Testing

@testable import LocalDataAPI

/// A digit of a node's number, as a type.
private protocol Digit { static var value: Int { get } }
private enum Zero: Digit { static let value = 0 }
private enum One: Digit { static let value = 1 }
private enum Two: Digit { static let value = 2 }
private enum Three: Digit { static let value = 3 }

/// A type of a random chain. It remembers the numbers of the types that it was converted from.
private protocol Node: Codable, Sendable, Equatable, VersionedValue {
    var way: [Int] { get }
    init(way: [Int])
}

private struct Numbered<High: Digit, Low: Digit>: Node {
    static var version: Int { 4 * High.value + Low.value }
    let way: [Int]

    init(way: [Int]) { self.way = way }

    init(from decoder: any Decoder) throws {
        way = try decoder.container(keyedBy: NodeKey.self).decode([Int].self, forKey: NodeKey(Self.version))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NodeKey.self)
        try container.encode(way, forKey: NodeKey(Self.version))
    }
}

private struct NodeKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ number: Int) { stringValue = "node\(number)" }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

@Suite("A random chain") struct RandomChainTests {
    private typealias Target = Numbered<Zero, Zero>

    private static let types: [any Node.Type] = {
        func row<High: Digit>(_ high: High.Type) -> [any Node.Type] {
            [Numbered<High, Zero>.self, Numbered<High, One>.self, Numbered<High, Two>.self, Numbered<High, Three>.self]
        }
        return row(Zero.self) + row(One.self) + row(Two.self) + row(Three.self)
    }()

    @Test("finds the shortest path, or names the problem") func chains() async throws {
        var random = SeededGenerator(seed: TestRun.seed)
        var seen: [String: Int] = [:]
        for _ in 0..<(TestRun.isTorture ? 20_000 : 1000) {
            let count = Int.random(in: 2...Self.types.count, using: &random)
            let density = Double.random(in: 0.02...0.4, using: &random)
            // Chains that only lead down have no cycle; a few edges may lead anywhere.
            let leadsAnywhere = Int.random(in: 0..<4, using: &random) == 0
            var edges: [(Int, Int)] = []
            for from in 0..<count {
                for to in 0..<count where (leadsAnywhere ? from != to : to < from) {
                    if Double.random(in: 0..<1, using: &random) < density { edges.append((from, to)) }
                }
            }
            edges.shuffle(using: &random)
            for outcome in try await check(edges, count) { seen[outcome, default: 0] += 1 }
        }
        for outcome in ["cycle", "ambiguous", "way", "no way"] { #expect(seen[outcome, default: 0] > 50, "\(seen)") }
    }

    private func check(_ edges: [(Int, Int)], _ count: Int) async throws -> Set<String> {
        let builder = DataMigrator<Target>.Builder(targetType: Target.self)
        for (from, to) in edges { Self.register(Self.types[from], Self.types[to], builder) }
        let migrator: DataMigrator<Target>
        do { migrator = try builder.build() } catch {
            if Self.hasCycle(edges, count) {
                #expect(error.code == .converterCycle, "\(edges): \(error)")
                return ["cycle"]
            }
            #expect(error.code == .ambiguous && Self.hasTwoWays(edges, count), "\(edges): \(error)")
            return ["ambiguous"]
        }
        #expect(!Self.hasCycle(edges, count) && !Self.hasTwoWays(edges, count), "\(edges)")
        let known = Set(edges.flatMap { [$0.0, $0.1] })
        var outcomes: Set<String> = []
        for start in known.sorted() {
            let data = Data("{\"node\(start)\":[\(start)]}".utf8)
            guard let distance = Self.distances(edges, count)[start] else {
                let error = await #expect(throws: MigrationError.self, "\(edges)") {
                    try await migrator.migrate(data: data)
                }
                #expect(error?.code == .pathNotFound, "\(edges)")
                outcomes.insert("no way")
                continue
            }
            let found = try await migrator.migrate(data: data)
            let way = try JSONDecoder().decode(Target.self, from: found.data).way
            #expect(way.count == distance + 1 && way.first == start && way.last == 0, "\(edges): \(way)")
            for (from, to) in zip(way, way.dropFirst()) { #expect(edges.contains { $0 == (from, to) }) }
            outcomes.insert("way")
        }
        return outcomes
    }

    private static func register<From: Node, To: Node>(
        _ from: From.Type, _ to: To.Type, _ builder: DataMigrator<Target>.Builder
    ) {
        builder.register(from: from, to: to) { To(way: $0.way + [To.version]) }
    }

    /// The fewest steps to the target, found by relaxing every edge again and again.
    private static func distances(_ edges: [(Int, Int)], _ count: Int) -> [Int?] {
        var distances = [Int?](repeating: nil, count: count)
        distances[0] = 0
        for _ in 0..<count {
            for (from, to) in edges {
                guard let distance = distances[to] else { continue }
                distances[from] = min(distances[from] ?? .max, distance + 1)
            }
        }
        return distances
    }

    private static func hasTwoWays(_ edges: [(Int, Int)], _ count: Int) -> Bool {
        let distances = distances(edges, count)
        return (1..<count).contains { node in
            edges.count { $0.0 == node && distances[$0.1] != nil && distances[$0.1].map { $0 + 1 } == distances[node] }
                > 1
        }
    }

    private static func hasCycle(_ edges: [(Int, Int)], _ count: Int) -> Bool {
        (0..<count).contains { start in
            var reached: Set<Int> = []
            var next = [start]
            while let node = next.popLast() {
                for (from, to) in edges where from == node && reached.insert(to).inserted { next.append(to) }
            }
            return reached.contains(start)
        }
    }
}
