import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import FolderSync

/// Publications of one process, in a separate process: this test program, started again with only this test, in which
/// the fault injector hits one call. Without the injector's variables the test does nothing.
@Suite("The steps of publications")
struct FolderSyncSteps {
    /// The variable with the home that has the shared folder.
    private static let variable = "LOCALDATA_FOLDER_SYNC_STEPS"
    private static let home = ProcessInfo.processInfo.environment[variable]
    /// The numbers that the process publishes, with one call each. It begins with its own segment and a base, and then
    /// adds more segments.
    static let numbers = 100..<112

    /// The transport of a home, with the smallest segments.
    static func transport(of home: String) throws -> FolderSync {
        try FolderSync(
            options: ComponentOptions([
                "folder": .string("\(home)/shared"), "poll": .integer(3600), "segment": .integer(4096),
                "marker": .string(""),
            ]), host: HostServices(name: "test", version: "1"), settings: Publisher.Settings(segment: 4096, linger: 0))
    }

    /// The record with a number: one of five names, and content whose bytes all encode the number.
    static func record(_ number: Int) -> SyncRecord {
        SyncRecord(
            writer: "device", name: "n\(number % 5)",
            content: Data("\(number) ".utf8) + SeededGenerator.bytes(900, seed: UInt64(number)))
    }

    /// The number of a record; `nil` if any byte differs from the published one.
    static func number(of record: SyncRecord) -> Int? {
        let word = record.content.prefix { $0 != UInt8(ascii: " ") }
        guard let number = Int(String(decoding: word, as: UTF8.self)), Self.record(number) == record else { return nil }
        return number
    }

    /// Runs the steps in a home, with the injector configured by `variables`.
    static func run(in home: Home, _ variables: [String: String]) throws -> Home.Ending {
        guard Self.home == nil else { throw TestFailure("steps began further steps") }
        return try home.run(
            TestRun.program,
            ["--filter", "CommandLineTests.FolderSyncSteps/steps", "--testing-library", "swift-testing"],
            adding: variables.merging([variable: home.path]) { $1 })
    }

    @Test("are made one by one", .enabled(if: home != nil))
    func steps() throws {
        let home = try #require(Self.home)
        let transport = try Self.transport(of: home)
        for number in Self.numbers {
            do {
                try transport.publish([Self.record(number)])
                Self.say("acknowledged \(number)")
            } catch {
                Self.say("failed \(number) \(error)")
            }
        }
    }

    /// Writes a line for the test that started this.
    private static func say(_ line: String) {
        let line = Array("\(line)\n".utf8)
        let file = open("\(home ?? "")/steps", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        if write(file, line, line.count) != line.count { exit(125) }
    }
}
