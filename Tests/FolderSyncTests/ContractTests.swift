import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import FolderSync

@Suite("The promises of a transport, kept by FolderSync")
struct ContractTests {
    private let folder: TemporaryFolder
    private let transport: FolderSync

    init() throws {
        folder = try TemporaryFolder()
        transport = try FolderSync.open(folder.path)
    }

    private func publish(_ numbers: some Sequence<Int>, of writer: String = "a", names: Int = 1000) throws {
        try transport.publish(numbers.map { Numbered(writer, "n\($0 % names)", $0).record() })
    }

    @Test("records, including own ones, arrive in the order of their publication on every device")
    func order() throws {
        for start in stride(from: 0, to: 300, by: 30) { try publish(start..<start + 30) }
        #expect(try transport.numbers() == Array(0..<300))
        #expect(try FolderSync.open(folder.path).numbers() == Array(0..<300))
    }

    @Test("a fetch resumes from a position, also in another process, and after the body has stopped")
    func resume() throws {
        try publish(0..<200)
        var position: Data?
        var numbers: [Int] = []
        while numbers.count < 200 {
            var taken = 0
            position = try FolderSync.open(folder.path).fetch(since: position) { record in
                numbers += [Numbered(record)?.number ?? -1]
                taken += 1
                return taken < 7
            }
        }
        #expect(numbers == Array(0..<200))
        #expect(try transport.all(since: position).records.isEmpty)
        try publish(200..<201)
        #expect(try transport.numbers(since: position) == [200])
    }

    @Test("an empty folder has a position, from which later records are fetched")
    func empty() throws {
        let (records, position) = try transport.all()
        #expect(records.isEmpty && (1...4096).contains(position.count))
        try publish(0..<1)
        #expect(try transport.numbers(since: position) == [0])
    }

    @Test("records may be empty, and have the largest size, but not more")
    func sizes() throws {
        let large = SyncRecord(writer: "a", name: "l", content: Data(repeating: 7, count: transport.largestRecord))
        let empty = SyncRecord(writer: "a", name: "e", content: Data())
        try transport.publish([empty, large, empty])
        #expect(try transport.all().records == [empty, large, empty])
        var tooLarge = large
        tooLarge.content.append(0)
        #expect(throws: StorageError.valueTooLarge) { try transport.publish([empty, tooLarge]) }
        #expect(try transport.all().records.count == 3)
    }

    @Test("invalid names are refused before anything is written", arguments: ["", "A", "..", "a/b", "\u{e9}"])
    func names(_ name: String) throws {
        #expect(throws: StorageError.invalidAddress) {
            try transport.publish(SyncRecord(writer: name, name: "n", content: Data()))
        }
        #expect(throws: StorageError.invalidAddress) {
            try transport.publish(SyncRecord(writer: "w", name: name, content: Data()))
        }
        #expect(throws: StorageError.invalidAddress) { try transport.remove([name], of: "w") }
        #expect(try folder.entries().isEmpty)
    }

    @Test("replaced and removed records are compacted away, and the rest stays for all positions")
    func compaction() throws {
        try publish(0..<50)
        let early = try transport.all().position
        let positions = try (1...60).map { round in
            try publish(50 * round..<50 * round + 50, names: 50)
            return try transport.all().position
        }
        let live = Set(3000..<3050)
        try transport.remove((0..<1000).map { "n\($0)" }.filter { Int($0.dropFirst()) ?? 0 >= 50 }, of: "a")
        let size = try folder.segments(of: "a").reduce(0) { $0 + (folder.content("a/\($1)")?.count ?? 0) }
        #expect(size < 40_000, "61 rounds of 50 records take \(size) bytes")
        for position in positions + [early] {
            let numbers = try transport.numbers(since: position)
            #expect(Set(numbers).isSuperset(of: live) || numbers.isEmpty || live.isSuperset(of: numbers))
        }
        #expect(try Set(transport.numbers(since: early)).isSuperset(of: live))
        #expect(try Set(FolderSync.open(folder.path).numbers()).isSuperset(of: live))
    }

    @Test("a removed record is not fetched after a compaction, and removing an absent one is fine")
    func removal() throws {
        try publish(0..<20)
        try transport.remove(["n3", "nothing"], of: "a")
        try transport.remove(["n1"], of: "nobody")
        for number in 0..<1000 { try transport.publish(Numbered("a", "other\(number % 9)", number).record()) }
        let names = try Set(FolderSync.open(folder.path).all().records.map(\.name))
        #expect(names.contains("n5") && !names.contains("n3"))
    }

    @Test("a reader that knows everything before a base does not get it again")
    func baseIsSkipped() throws {
        var replica = Replica("r")
        for round in 0..<200 {
            try publish(10 * round..<10 * round + 10, names: 10)
            try replica.fetch(from: transport)
        }
        // A base that begins in the middle of a publication has some of its new records.
        #expect((2000..<2100).contains(replica.delivered))
        #expect(try folder.segments(of: "a").count < 40)
    }

    @Test("publishing from many threads loses nothing, and keeps each thread's order")
    func threads() throws {
        let failures = Counter()
        let transport = transport
        onThreads(8) { thread in
            for number in 0..<100 {
                do { try transport.publish(Numbered("a", "t\(thread)", number).record(40)) } catch { failures.add() }
            }
        }
        #expect(failures.value == 0)
        var replica = Replica("r")
        try replica.fetch(from: transport)
        #expect(replica.newest["a"] == Dictionary(uniqueKeysWithValues: (0..<8).map { ("t\($0)", 99) }))
    }

    @Test("100 writers fit into a position")
    func manyWriters() throws {
        let long = String(repeating: "w", count: 60)
        for writer in 0..<100 { try publish(0..<30, of: "\(long)-\(writer)") }
        let (records, position) = try transport.all()
        #expect(records.count == 3000 && position.count <= 4096)
        try publish(30..<31, of: "\(long)-77")
        #expect(try transport.numbers(since: position) == [30])
    }

    @Test("a damaged position, and one of a folder that was set up again, are lost")
    func positionLost() throws {
        try publish(0..<3)
        var position = try transport.all().position
        try FileManager.default.removeItem(atPath: "\(folder.path)/a")
        #expect(throws: StorageError(.positionLost)) { try transport.all(since: position) }
        #expect(try transport.all().records.isEmpty)
        try publish(5..<6)
        #expect(throws: StorageError(.positionLost)) { try transport.all(since: position) }
        #expect(try transport.numbers() == [5])
        position[3] ^= 1
        #expect(throws: StorageError(.positionLost)) { try transport.all(since: position) }
        #expect(throws: StorageError(.positionLost)) { try transport.all(since: Data()) }
    }

    @Test("files and folders are for the user alone")
    func modes() throws {
        try publish(0..<1)
        #expect(try folder.mode("a") == 0o700)
        #expect(try folder.mode("a/\(folder.segments(of: "a")[0])") == 0o600)
    }

    @Test("options that cannot work are refused")
    func options() throws {
        #expect(throws: StorageError.invalidOptions) { try FolderSync.open("relative") }
        #expect(throws: StorageError.invalidOptions) { try FolderSync.open(folder.path, poll: 0) }
        #expect(throws: StorageError.invalidOptions) { try FolderSync.open(folder.path, marker: "a/b") }
        let options = ComponentOptions([
            "folder": .string(folder.path), "poll": .integer(1), "segment": .integer(1), "marker": .string(""),
        ])
        #expect(throws: StorageError.invalidOptions) {
            try FolderSync(options: options, host: HostServices(name: "test", version: "1"))
        }
    }

    @Test("a call after cancel works")
    func cancelled() throws {
        transport.cancel()
        try publish(0..<1)
        #expect(try transport.numbers() == [0])
    }
}
