import DurableFiles
import TestSupport
import Testing

@Suite("Batches that expect unchanged files") struct BatchExpectationTests {
    private let fixture: BatchFixture

    init() throws {
        fixture = try BatchFixture()
        for name in ["first", "second"] { try fixture.inside.replace(name, "old") }
    }

    /// The current state of a file, as an expectation.
    private func seen(_ name: String) throws -> FileExpectation {
        let path = RelativePath(name)
        guard let file = try fixture.inside.open(path) else { return FileExpectation(absent: path, in: fixture.inside) }
        return try FileExpectation(path, in: fixture.inside, file)
    }

    @Test("a batch is applied if every file is unchanged, and not if one has changed", arguments: [1, 2])
    func expectations(_ count: Int) throws {
        let changes = ["first", "third"].prefix(count).map { fixture.change($0, "new") }
        let meddlings: [(String, String?)?] = [
            nil, ("first", "other"), ("first", "old"), ("first", nil), ("second", "else"), ("second", nil),
            ("third", ""),
        ]
        for meddling in meddlings {
            for name in ["first", "second"] { try fixture.inside.replace(name, "old") }
            _ = try fixture.inside.remove(RelativePath("third"))
            let expectations = try ["first", "second", "third"].map { try seen($0) }
            if let (name, text) = meddling {
                if let text {
                    try fixture.inside.replace(name, text)
                } else {
                    _ = try fixture.inside.remove(RelativePath(name))
                }
            }
            let before = try fixture.folder.files()
            let isApplied = try fixture.batches.apply(changes, onlyIf: expectations)
            #expect(isApplied == (meddling == nil), "\(String(describing: meddling))")
            #expect(
                try fixture.inside.text("first") == (isApplied ? "new" : meddling?.0 == "first" ? meddling?.1 : "old"))
            if !isApplied {
                #expect(
                    try fixture.folder.files().filter { !$0.hasSuffix("lock") }
                        == before.filter { !$0.hasSuffix("lock") })
            }
        }
    }

    @Test("a change that a batch has overwritten is repeated; one after the batch is not")
    func overtaken() throws {
        let path = RelativePath("first")
        let others = try BatchFolder(root: fixture.root)
        var count = 0
        try fixture.batches.around {
            count += 1
            try fixture.inside.replace("first", "mine")
            // As if the batch's expectations had been checked before, and its files renamed now.
            if count == 1 { try others.apply([fixture.change("first", "batch"), fixture.change("second", "batch")]) }
        } stands: {
            try fixture.inside.text("first") == "mine"
        }
        #expect(try count == 2 && fixture.inside.text("first") == "mine" && fixture.inside.text("second") == "batch")
        // A stream can be read only once.
        count = 0
        try fixture.batches.replace(path, in: fixture.inside, attribute: nil) { take in
            count += 1
            try others.apply([fixture.change("first", "batch"), fixture.change("second", "batch")])
            try Array("piece".utf8).withUnsafeBytes { try take($0.bytes) }
        }
        #expect(try count == 1 && fixture.inside.text("first") == "piece")
        #expect(try fixture.batches.remove(path, in: fixture.inside) && !fixture.inside.exists(path))
    }

    @Test("sets of single files beside batches: every set takes effect before a batch, or after it")
    func crowd() async throws {
        let rounds = 150
        let root = fixture.root
        let place = fixture.inside.path
        try fixture.inside.replace("count", "0")
        // Both count up: one with a batch that expects the count that it read, the other with single sets. No count may
        // be lost.
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let batches = try BatchFolder(root: root)
                let inside = try DurableDirectory(root: place)
                for number in 1...rounds {
                    try batches.replace(
                        RelativePath("alone"), in: inside, attribute: nil, with: .init(start: nil, count: 0))
                    try Array("\(number)".utf8).withUnsafeBytes {
                        try batches.replace(RelativePath("count"), in: inside, attribute: nil, with: $0)
                    }
                    // The set is acknowledged, so any later writer has seen it.
                    let now = try Int(inside.text("count") ?? "") ?? -1
                    guard now >= number else { throw LostCount(set: number, found: now) }
                }
            }
            group.addTask {
                let batches = try BatchFolder(root: root)
                let inside = try DurableDirectory(root: place)
                for _ in 1...rounds {
                    let path = RelativePath("count")
                    guard let file = try inside.open(path) else { continue }
                    let expectation = try FileExpectation(path, in: inside, file)
                    var text = ""
                    try file.read { text = $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
                    try batches.apply(
                        [path, RelativePath("other")].map { path in
                            FileChange(in: inside, path) { take in
                                try Array(text.utf8).withUnsafeBytes { try take($0) }
                            }
                        }, onlyIf: [expectation])
                }
            }
            do { try await group.waitForAll() } catch { Issue.record("\(error)") }
        }
    }

    private struct LostCount: Error {
        let set: Int
        let found: Int
    }
}
