import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import FolderSync

/// A position has room for some 180 writers. Each device that leaves a group and joins again is a new one.
@Suite("Positions in a folder of many writers")
struct PositionTests {
    private static let writers = 400
    private let folder: TemporaryFolder
    private let transport: FolderSync

    init() throws {
        folder = try TemporaryFolder()
        transport = try FolderSync.open(folder.path)
        for number in 0..<Self.writers { try publish(number) }
    }

    private func publish(_ number: Int, as value: Int? = nil) throws {
        try FolderSync.open(folder.path).publish(Numbered("w\(number)", "n", value ?? number).record())
    }

    /// The numbers of what is new since a position, and the position behind it.
    private func fetch(since position: Data?) throws -> (numbers: [Int], position: Data) {
        let (records, next) = try FolderSync.open(folder.path).all(since: position)
        #expect((1...4096).contains(next.count))
        return (try records.map { try #require(Numbered($0)).number }, next)
    }

    @Test("a fetch resumes behind all writers, and gives what new and active ones publish")
    func resume() throws {
        var (numbers, position) = try fetch(since: nil)
        #expect(numbers.sorted() == Array(0..<Self.writers))
        for round in 0..<3 {
            #expect(try fetch(since: position).numbers.isEmpty)
            try publish(Self.writers - 1, as: 1000 + round)
            try publish(Self.writers + round)
            (numbers, position) = try fetch(since: position)
            #expect(numbers.sorted() == [Self.writers + round, 1000 + round])
        }
        // As many as make others quiet.
        for number in 500..<600 { try publish(number) }
        (numbers, position) = try fetch(since: position)
        #expect(numbers.sorted() == Array(500..<600))
        #expect(try fetch(since: position).numbers.isEmpty)
    }

    @Test("a writer that publishes after a long time is noticed")
    func woken() throws {
        let position = try fetch(since: nil).position
        try publish(3, as: 1000)
        #expect(throws: StorageError.positionLost) { try fetch(since: position) }
        let (numbers, next) = try fetch(since: nil)
        #expect(numbers.contains(1000) && numbers.count == Self.writers + 1)
        try publish(3, as: 1001)
        #expect(try fetch(since: next).numbers == [1001])
    }

    @Test("a folder that is gone, or as it was earlier, is noticed", arguments: [true, false])
    func putBack(isGone: Bool) throws {
        let path = "\(folder.path)/w3"
        let earlier = try #require(try folder.segments(of: "w3").first)
        let content = try #require(folder.content("w3/\(earlier)"))
        let position = try fetch(since: nil).position
        try FileManager.default.removeItem(atPath: isGone ? path : "\(path)/\(earlier)")
        if !isGone { try Data(content.dropLast()).write(to: URL(filePath: "\(path)/\(earlier)")) }
        #expect(throws: StorageError.positionLost) { try fetch(since: position) }
    }

    @Test("fetches in parts come to the end, and lose no position", arguments: [1, 7, 150])
    func parts(_ most: Int) throws {
        var replica = Replica("r")
        var fetches = 0
        repeat {
            let before = replica.delivered
            try replica.fetch(from: transport, atMost: most)
            fetches += 1
            if replica.delivered == before { break }
        } while fetches < 2 * Self.writers
        #expect(replica.positionsLost == 0 && replica.delivered == Self.writers)
        #expect(replica.newest.count == Self.writers)
    }
}
