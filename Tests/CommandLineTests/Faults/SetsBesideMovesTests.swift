import FoundationEssentials
import TestSupport
import Testing

/// Processes that set values while others move all of them, and others change settings: `store copy --move` and
/// `migrate run` between every pair of stores that allows it. 20,000 acknowledged sets with `LOCALDATA_TORTURE=1`;
/// otherwise some between one pair for each, which is the same for the same `LOCALDATA_SEED`.
@Suite("Sets during moves", .serialized)
struct SetsBesideMovesTests {
    private static let kinds = ["file", "sqlite", "sealed"]
    private static let sets = TestRun.isTorture ? 20_000 : 200

    @Test("no acknowledged set is lost, and none is overwritten by an older value", arguments: ["copy", "migrate"])
    func campaign(_ action: String) throws {
        // Sealed values are not copied to a plain store.
        var pairs = Self.kinds.flatMap { from in
            Self.kinds.filter { from != "sealed" || $0 == "sealed" }.map { (from: from, to: $0) }
        }
        var generator = SeededGenerator(seed: TestRun.seed)
        if !TestRun.isTorture { pairs = Array(pairs.shuffled(using: &generator).prefix(1)) }
        for (from, to) in pairs {
            let home = try Home()
            let program = "\(Repository.root)/Tests/CommandLineTests/Programs/sets_beside_moves.py"
            let ending = try home.run(
                "/usr/bin/python3",
                [program, action, from, to, "\(Self.sets / pairs.count / 2)", "\(generator.next() % 1_000_000)"])
            let lines = ending.text.split(separator: "\n")
            let what = "\(action) \(from) to \(to), seed \(TestRun.seed)"
            #expect(ending.status == 0, "\(what): \(ending.errors)")
            #expect(lines.count == 1, "\(what):\n\(ending.text)")
            print("sets beside moves: \(what): \(lines.last ?? "")")
        }
    }
}
