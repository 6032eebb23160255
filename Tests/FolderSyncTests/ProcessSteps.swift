import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@testable import FolderSync

/// The steps of other processes in tests: this test program, started again with only this test. Without the variable it
/// does nothing.
@Suite("The steps of other processes with FolderSync")
struct ProcessSteps {
    private static let variable = "LOCALDATA_FOLDER_SYNC_PROCESS"
    private static let work = TestRun.environment[variable]?.split(separator: " ").map(String.init)

    /// Whether this process is one of them.
    static var isRunning: Bool { work != nil }

    /// Starts a process, waits for it and returns what it printed as its result.
    static func run(_ work: String...) throws -> String {
        // The filter must select only the steps: processes whose tests start further processes would never end.
        guard Self.work == nil else { throw TestFailure("steps began further steps") }
        let end = try ChildProcess(
            TestRun.program,
            arguments: ["--filter", "FolderSyncTests.ProcessSteps/steps", "--testing-library", "swift-testing"],
            environment: TestRun.environment.merging([variable: work.joined(separator: " ")]) { $1 }
        ).run(deadline: .seconds(300))
        guard end.outcome == .exited(code: 0) else { throw TestFailure("\(work): \(end.outcome) \(end.errorText)") }
        let lines = String(decoding: end.output, as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("result ") }.map { String($0.dropFirst(7)) } ?? ""
    }

    @Test("are done", .enabled(if: work != nil))
    func steps() throws {
        let work = try #require(Self.work)
        switch work[0] {
        case "publish": try publish(to: work[1], named: work[2])
        case "answer": try answer(in: work[1])
        case "stream": print("result \(try stream(through: work[1]))")
        default: throw TestFailure("unknown work: \(work)")
        }
    }

    /// Publishes 200 records as the writer `a`, sometimes with a new transport.
    private func publish(to folder: String, named name: String) throws {
        var transport = try FolderSync.open(folder)
        for number in 1...200 {
            if number % 41 == 0 { transport = try FolderSync.open(folder) }
            try transport.publish(Numbered("a", "\(name)-\(number % 7)", number).record(100))
        }
    }

    /// Answers each record of `a` as the writer `b`, when it is notified, up to the record with the name `end`.
    private func answer(in folder: String) throws {
        let transport = try FolderSync.open(folder)
        let notices = Recorder<SyncNotice>()
        let subscription = try transport.subscribe { notices.add($0) }
        defer { transport.unsubscribe(subscription) }
        var position: Data?
        while true {
            let (records, next) = try transport.all(since: position)
            position = next
            for record in records where record.writer == "a" {
                if record.name == "end" { return }
                try transport.publish(SyncRecord(writer: "b", name: record.name, content: record.content))
            }
            if notices.take(through: { _ in true }) == nil { throw TestFailure("no notice came") }
        }
    }

    /// Publishes 100,000 records and half of them again, and fetches all.
    ///
    /// - Returns: The largest growth of the memory in use, in MiB.
    private func stream(through folder: String) throws -> Int {
        let transport = try FolderSync.open(folder, segment: 1 << 20)
        let before = try Self.peak()
        for start in stride(from: 0, to: 150_000, by: 1000) {
            try transport.publish(
                (start..<start + 1000).map { number in
                    SyncRecord(
                        writer: "a", name: "n\(number % 100_000)", content: Data(repeating: 7, count: 1000))
                })
        }
        var names: Set<String> = []
        _ = try transport.fetch(since: nil) { record in
            names.insert(record.name)
            return record.content.count == 1000
        }
        guard names.count == 100_000 else { throw TestFailure("\(names.count) names") }
        return try Self.peak() - before
    }

    /// This process's peak of memory, in MiB; see proc(5).
    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) / 1024
    }
}
