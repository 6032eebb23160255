import LocalDataAPI
import Testing

@testable import MigrationManifest

@Suite("steps with common keys") struct ManifestOrderTests {
    private func rename(_ id: String, _ from: String, _ to: String, after: String = "") -> String {
        let list = after.isEmpty ? "" : ",\"after\":[\"\(after)\"]"
        return "{\"id\":\"\(id)\",\"rename\":{\"from\":\"rows/\(from)\",\"to\":\"rows/\(to)\"}\(list)}"
    }

    private func error(_ steps: String...) throws -> String {
        let text = "[\(steps.joined(separator: ","))]"
        let error = try #require(throws: StorageError.self) { try Manifest(text: text) }
        #expect(error.code == .invalidOptions && !error.hint.isEmpty)
        return error.message
    }

    private func accept(_ steps: String...) throws {
        #expect(try Manifest(text: "[\(steps.joined(separator: ","))]").steps.count == steps.count)
    }

    @Test("a byte order mark before the text is no part of it")
    func byteOrderMark() throws {
        let text = "[\(rename("x", "a", "b"))]"
        #expect(try Manifest([0xEF, 0xBB, 0xBF] + Array(text.utf8), of: "m.json").steps.count == 1)
    }

    @Test("seed defect 31: swaps and cycles are found before anything is written")
    func circles() throws {
        #expect(try error(rename("x", "a", "b"), rename("y", "b", "a")).contains("exchanges 'rows/b' and 'rows/a'"))
        #expect(try error(rename("x", "a", "b"), rename("y", "b", "a", after: "x")).contains("exchanges"))
        #expect(
            try error(
                rename("x", "a", "b", after: "z"), rename("y", "b", "c", after: "x"), rename("z", "c", "a", after: "y"))
                == "step 'x', after: steps come after each other in a circle: x after z after y after x")
        let prefixes = [#"{"id":"x","prefix":{"from":"rows/a.*","to":"rows/b.*"}}"#, rename("y", "b.c", "a.c")]
        #expect(try error(prefixes[0], prefixes[1]).contains("exchanges"))
    }

    @Test("a chain needs an order, and only the order with a repeatable result is accepted")
    func chains() throws {
        #expect(
            try error(rename("x", "a", "b"), rename("y", "b", "c"))
                == "step 'y': takes 'rows/b', which step 'x' brings")
        #expect(try error(rename("y", "b", "c"), rename("x", "a", "b")).hasPrefix("step 'y': takes 'rows/b'"))
        #expect(
            try error(rename("y", "b", "c"), rename("x", "a", "b", after: "y"))
                .hasPrefix("step 'x': brings 'rows/b' after step 'y' has taken what was there"))
        try accept(rename("x", "a", "b"), rename("y", "b", "c", after: "x"))
        try accept(rename("y", "b", "c", after: "x"), rename("x", "a", "b"))
        try accept(rename("x", "a", "b"), rename("y", "b", "c", after: "x"), rename("z", "c", "d", after: "y"))
    }

    @Test("two steps that bring or take one key need an order")
    func collisions() throws {
        #expect(try error(rename("x", "a", "c"), rename("y", "b", "c")).contains("both bring 'rows/c'"))
        #expect(try error(rename("x", "a", "b"), rename("y", "a", "c")).contains("both take 'rows/a'"))
        #expect(
            try error(rename("x", "a", "b"), #"{"id":"y","remove":"rows/a"}"#).contains("both take 'rows/a'"))
        #expect(
            try error(rename("x", "a.b", "c"), #"{"id":"y","move":{"from":"rows/a.*","to":"fileSystem"}}"#)
                .contains("both take"))
        try accept(rename("x", "a", "c"), rename("y", "b", "c", after: "x"))
        try accept(rename("x", "a", "c"), #"{"id":"y","default":{"key":"rows/c","value":1},"after":["x"]}"#)
        try accept(rename("x", "a", "c"), rename("y", "b", "d"), rename("z", "ab", "cd"))
        // Other namespaces have other keys.
        try accept(rename("x", "a", "b"), #"{"id":"y","rename":{"from":"rows:s/a","to":"rows:s/b"}}"#)
    }

    @Test("a long chain is checked without recursion")
    func longChain() throws {
        let steps = (0..<1000).map {
            rename("s\($0)", "k\($0)", "k\($0 + 1)", after: $0 == 0 ? "" : "s\($0 - 1)")
        }
        #expect(try Manifest(text: "[\(steps.joined(separator: ","))]").steps.count == 1000)
        #expect(try Manifest(text: "[\(steps.reversed().joined(separator: ","))]").steps.count == 1000)
    }
}
