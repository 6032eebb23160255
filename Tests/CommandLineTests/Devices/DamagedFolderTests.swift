import FoundationEssentials
import TestSupport
import Testing

/// One byte of the shared folder changes, on any machine.
@Suite("Sync over a folder that damages files")
struct DamagedFolderTests {
    private static let values = 6
    private let folder: TemporaryFolder
    private let supervisor: Supervisor
    private let first: SyncedDevice
    private let second: SyncedDevice

    init() throws {
        (folder, supervisor) = (try TemporaryFolder(), try Supervisor())
        let keys = CampaignKeys(shared: Self.values + 1, single: 0)
        let carrier = try CarrierKind.folder.make(for: 2, in: folder.path, supervisor)
        first = try SyncedDevice(0, keys, over: carrier, supervisor)
        second = try SyncedDevice(1, keys, over: carrier, supervisor)
        try first.home.done("sync", "init", "--name", "first")
        let code = try first.home.done("sync", "invite").text
        try second.home.done("sync", "join", "--name", "second", input: Array(code.utf8))
        for _ in 0..<3 { for device in [first, second] { try device.home.done("sync", "pull") } }
    }

    private func set(_ numbers: Range<Int>) throws {
        for number in numbers {
            try first.home.done("set", "userDefaults/\(CampaignKeys.name(number))", "value \(number)")
            try first.home.done("sync", "push")
        }
    }

    /// The first device's segments, oldest first.
    private func segments() throws -> [String] {
        let list = "find '\(folder.path)' -path '*/\(try first.status().device)/*' -name '*.segment' | sort"
        return try first.home.shell(list).text.split(separator: "\n").map(String.init)
    }

    private func flip(_ path: String, at offset: Int) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[offset % bytes.count] ^= 0x40
        try bytes.write(to: URL(filePath: path))
    }

    private func missing() throws -> [Int] {
        try (0..<Self.values).filter {
            try second.home.run("get", "userDefaults/\(CampaignKeys.name($0))").text != "\"value \($0)\""
        }
    }

    @Test("republishes the records that the latest file has lost, as soon as another device misses them")
    func latest() throws {
        try set(0..<Self.values - 1)
        try flip(try #require(segments().last), at: 150)
        try set(Self.values - 1..<Self.values)
        for _ in 0..<4 { for device in [second, first] { try device.home.done("sync", "pull") } }
        #expect(try missing() == [])
        #expect(try second.status().isSettled && first.status().isSettled)
    }

    @Test("republishes an update whose file is gone, once it reads from the start", arguments: [true, false])
    func update(isRemoved: Bool) throws {
        try set(0..<Self.values)
        for device in [second, first] { try device.home.done("sync", "pull") }
        try first.home.done("set", "userDefaults/\(CampaignKeys.name(0))", "another value")
        try first.home.done("sync", "push")
        let path = try #require(segments().last)
        _ = try first.home.shell(isRemoved ? "rm '\(path)'" : ": >'\(path)'")
        for _ in 0..<3 { for device in [second, first] { _ = try device.home.run("sync", "pull") } }
        try first.home.done("sync", "pull", "--from-start")
        for _ in 0..<3 { for device in [second, first] { try device.home.done("sync", "pull") } }
        let value = try second.home.done("get", "userDefaults/\(CampaignKeys.name(0))").text
        #expect(value.contains("another value"), "\(value)")
        #expect(try second.status().isSettled && first.status().isSettled)
    }

    @Test("names a file before the last that is gone, or whose header is damaged", arguments: [true, false])
    func gap(isRemoved: Bool) throws {
        try set(0..<Self.values)
        let path = try #require(segments().dropLast(2).last)
        if isRemoved { _ = try first.home.shell("rm '\(path)'") } else { try flip(path, at: 20) }
        let warning = try second.home.done("sync", "pull").errors
        #expect(warning.contains("\(path)' \(isRemoved ? "has not arrived" : "is damaged")"), "\(warning)")
        #expect(try !missing().isEmpty)
    }

    @Test("republishes the records that any file has lost, once it reads from the start", arguments: 0..<6)
    func anywhere(_ number: UInt64) throws {
        var random = SeededGenerator(seed: TestRun.seed &+ number)
        try set(0..<Self.values)
        let path = try #require(segments().randomElement(using: &random))
        let size = try Data(contentsOf: URL(filePath: path)).count
        let offset = Int.random(in: 0..<size, using: &random)
        try flip(path, at: offset)
        let warning = try second.home.run("sync", "pull").errors
        let lacking = try missing()
        try first.home.done("sync", "pull", "--from-start")
        for _ in 0..<3 { for device in [second, first] { try device.home.done("sync", "pull") } }
        let what = "byte \(offset) of \(size) in \(path), seed \(TestRun.seed); \(lacking) were missing; \(warning)"
        #expect(try missing() == [], "\(what)")
        #expect(try second.status().isSettled && first.status().isSettled, "\(what)")
    }
}
