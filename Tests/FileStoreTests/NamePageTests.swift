import Testing

@testable import FileStore

@Suite("The names that a listing keeps for later pages")
struct NamePageTests {
    private func page(
        of names: some Sequence<String>, prefix: String = "", after: String? = nil, limit: Int? = nil,
        isAhead: Bool = true
    ) -> (names: NameList, isComplete: Bool) {
        var page = NamePage(prefix: prefix, after: after, limit: limit, isAhead: isAhead)
        for name in names { page.insert(name) }
        return (page.sorted(), page.isComplete)
    }

    @Test("as many short names are kept as there is memory for, so that few listings pass a large folder")
    func many() {
        // In another order than theirs.
        let names = (0..<100_000).map { "n\(100_000 + $0 * 7919 % 100_000)" }
        let (kept, isComplete) = page(of: names, after: "", limit: 1000)
        #expect(isComplete && kept.count == 100_000)
        #expect(kept.texts(0..<2) == ["n100000", "n100001"] && kept.texts(99_999..<100_000) == ["n199999"])
        #expect(kept.size < 2 << 20)
    }

    @Test("the smallest of more names are kept, in a limited amount of memory")
    func bounded() {
        let rest = String(repeating: "x", count: 1000)
        let names = (0..<40_000).map { "\(100_000 + $0 * 7919 % 40_000)\(rest)" }
        let (kept, isComplete) = page(of: names, after: "", limit: 10)
        #expect(!isComplete && kept.count > 10_000 && kept.size < 17 << 20)
        #expect(kept.texts() == (0..<kept.count).map { "\(100_000 + $0)\(rest)" })
    }

    @Test("without a look ahead, only what is asked for is kept, each name once", arguments: [1, 3, 10])
    func asked(_ limit: Int) {
        let names = ["b", "a", "c", "a", "ab", "e\u{301}", "\u{e9}", "b"]
        let (kept, isComplete) = page(of: names, limit: limit, isAhead: false)
        #expect(
            kept.texts().map { Array($0.utf8) }
                == ["a", "ab", "b", "c", "e\u{301}", "\u{e9}"].prefix(limit).map { Array($0.utf8) })
        #expect(isComplete == (limit >= 6))
    }
}
