import TestSupport
import Testing

/// Several writers count in values of both stores between a copy and the move that follows.
@Suite("Counters beside copies", .serialized)
struct CountersBesideCopiesTests {
    @Test("a move after a live copy is never held up, and of two counts the later one stays")
    func counters() throws {
        let home = try Home()
        let program = "\(Repository.root)/Tests/CommandLineTests/Programs/counters_beside_copies.py"
        let ending = try home.run("/usr/bin/python3", [program, "\(TestRun.isTorture ? 40 : 2)"])
        let lines = ending.text.split(separator: "\n")
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(lines.count == 1, "\(ending.text)")
        print("counters beside copies: \(lines.last ?? "")")
    }
}
