import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
@testable import FolderSync

/// A record of the tests: its content encodes its identity, so that a torn or mixed record is noticed.
struct Numbered: Hashable {
    let writer: String
    let name: String
    let number: Int

    /// The record, with additional bytes that its number determines.
    func record(_ more: Int = 0) -> SyncRecord {
        var content = Data("\(writer) \(name) \(number) \(more) ".utf8)
        content.append(contentsOf: SeededGenerator.bytes(more, seed: UInt64(number)))
        return SyncRecord(writer: writer, name: name, content: content)
    }

    /// Reads a record; `nil` if any byte differs from the published one.
    init?(_ record: SyncRecord) {
        let words = record.content.split(separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false)
            .prefix(4).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 4, let number = Int(words[2]), let more = Int(words[3]) else { return nil }
        self.init(record.writer, words[1], number)
        guard words[0] == record.writer, name == record.name, self.record(more) == record else { return nil }
    }

    init(_ writer: String, _ name: String, _ number: Int) {
        (self.writer, self.name, self.number) = (writer, name, number)
    }
}

extension FolderSync {
    /// A transport with small segments, which compacts early and removes at once.
    static func open(
        _ folder: String, segment: Int = 4096, linger: Double = 0, poll: Int64 = 3600, marker: String = "",
        log: any StorageLogHandler = SilentLog()
    ) throws -> FolderSync {
        try FolderSync(
            options: ComponentOptions([
                "folder": .string(folder), "poll": .integer(poll), "segment": .integer(Int64(segment)),
                "marker": .string(marker),
            ]), host: HostServices(name: "test", version: "1", log: log),
            settings: Publisher.Settings(segment: segment, linger: linger))
    }

    func publish(_ record: SyncRecord) throws { try publish([record]) }

    /// All records after a position, and the position after them.
    func all(since position: Data? = nil) throws -> (records: [SyncRecord], position: Data) {
        var records: [SyncRecord] = []
        let position = try fetch(since: position) {
            records.append($0)
            return true
        }
        return (records, position)
    }

    /// The numbers of the records after a position, as they arrive.
    func numbers(since position: Data? = nil) throws -> [Int] {
        try all(since: position).records.map { record in
            guard let numbered = Numbered(record) else { throw TestFailure("a torn record of \(record.writer)") }
            return numbered.number
        }
    }
}

/// Keeps all log messages.
struct LogRecorder: StorageLogHandler {
    let level = StorageLogLevel.debug
    private let recorder = Recorder<String>()

    func log(_ level: StorageLogLevel, label: String, _ message: String) { recorder.add(message) }

    var messages: [String] { recorder.all }
}

extension TemporaryFolder {
    /// The names of a writer's segments, oldest first.
    func segments(of writer: String) throws -> [String] { try entries(writer).filter { $0.hasSuffix(".segment") } }
}
