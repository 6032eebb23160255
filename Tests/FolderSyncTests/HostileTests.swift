import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import FolderSync

@Suite("Files that others put into the folder of FolderSync")
struct HostileTests {
    private let folder: TemporaryFolder
    private let transport: FolderSync

    init() throws {
        folder = try TemporaryFolder()
        transport = try FolderSync.open("\(folder.path)/shared")
        try TemporaryFolder.makeFolder("\(folder.path)/shared")
        try transport.publish((0..<40).map { Numbered("a", "n\($0)", $0).record() })
    }

    private var expected: [Int] { Array(0..<40) }

    private func path(_ name: String) -> String { "\(folder.path)/shared/\(name)" }

    /// A segment's name whose stamp sorts before or after all others.
    private func name(_ stamp: UInt64, _ id: UInt64 = 77) -> String {
        SegmentName(stamp: stamp, id: id).description
    }

    private func checkWorks() throws {
        #expect(try FolderSync.open(path("")).numbers() == expected)
        let position = try transport.all().position
        try transport.publish(Numbered("a", "n1", 100).record())
        #expect(try transport.numbers(since: position) == [100])
        #expect(try FolderSync.open(path("")).numbers().contains(100))
    }

    @Test("symbolic links are not followed, wherever they lead", arguments: ["folder", "segment", "own"])
    func links(_ kind: String) throws {
        let outside = try TemporaryFolder()
        let other = try FolderSync.open(outside.path)
        try other.publish(Numbered("evil", "n", 666).record())
        let segment = try outside.segments(of: "evil")[0]
        switch kind {
        case "folder": #expect(symlink("\(outside.path)/evil", path("evil")) == 0)
        case "segment":
            try TemporaryFolder.makeFolder(path("evil"))
            #expect(symlink("\(outside.path)/evil/\(segment)", path("evil/\(segment)")) == 0)
        default:
            #expect(symlink("\(outside.path)/evil", path("mine")) == 0)
            let error = #expect(throws: StorageError.self) {
                try transport.publish(Numbered("mine", "n", 1).record())
            }
            #expect(error?.description.contains(path("mine")) == true)
            #expect(try outside.entries("evil") == [segment])
        }
        try checkWorks()
    }

    @Test("pipes, folders and sockets with a segment's name neither block nor break anything")
    func kinds() throws {
        #expect(mkfifo(path("a/\(name(1))"), 0o666) == 0)
        #expect(mkfifo(path("a/\(name(SegmentName.greatestStamp))"), 0o666) == 0)
        try TemporaryFolder.makeFolder(path("a/\(name(2))"))
        #expect(mkfifo(path("b"), 0o666) == 0)
        try checkWorks()
    }

    @Test("garbage, empty and huge files are skipped")
    func garbage() throws {
        try folder.write([], to: "shared/a/\(name(1))")
        try folder.write(SeededGenerator.bytes(5000, seed: 3), to: "shared/a/\(name(.max >> 3, 5))")
        let own = try #require(folder.content("shared/a/\(folder.segments(of: "shared/a")[0])"))
        // A copy under another name, another segment's frames after a header, and an empty file of one terabyte.
        try folder.write(own, to: "shared/a/\(name(7))")
        try TemporaryFolder.makeFolder(path("b"))
        for segment in try folder.segments(of: "shared/a") { try folder.write(own, to: "shared/b/\(segment)") }
        try folder.write(own.prefix(100), to: "shared/a/\(name(9))")
        #expect(truncate(path("a/\(name(9))"), 1 << 40) == 0)
        try folder.write(own, to: "shared/a/x.sync-conflict-20260101-120000-ABCDEFG.segment")
        try folder.write(own, to: "shared/UPPER")
        try folder.write(own, to: "shared/README.txt")
        for name in ["~syncthing~x.segment.tmp", ".syncthing.x.segment.tmp", "\(name(1))\n", "a\nb", "\n"] {
            try folder.write(own, to: "shared/a/\(name)")
            try folder.write(own, to: "shared/\(name)")
        }
        try TemporaryFolder.makeFolder(path("folder\nb"))
        try checkWorks()
    }

    @Test("a changed byte anywhere holds back the later records of that writer alone, until it is repaired")
    func damage() throws {
        try transport.publish((0..<5).map { Numbered("b", "n\($0)", 1000 + $0).record() })
        let file = try "shared/a/\(folder.segments(of: "shared/a")[0])"
        let whole = try #require(folder.content(file))
        for offset in stride(from: 0, to: whole.count, by: 7) {
            var damaged = whole
            damaged[offset] ^= 0x40
            try folder.write(damaged, to: file)
            // A frame whose length is damaged may just not have arrived whole; not for an hour.
            var times = [
                timespec(tv_sec: time(nil) - 3600, tv_nsec: 0), timespec(tv_sec: time(nil) - 3600, tv_nsec: 0),
            ]
            #expect(utimensat(AT_FDCWD, "\(folder.path)/\(file)", &times, 0) == 0)
            let log = LogRecorder()
            let numbers = try FolderSync.open(path(""), log: log).numbers()
            #expect(expected.starts(with: numbers.filter { $0 < 1000 }) && numbers.filter { $0 < 1000 }.count < 40)
            let isNamed = log.messages.contains { $0.contains(file) && $0.contains("is damaged") }
            #expect(isNamed || offset < 100, "byte \(offset): \(log.messages)")
            #expect(numbers.filter { $0 >= 1000 } == Array(1000..<1005))
        }
        try folder.write(whole, to: file)
        #expect(try FolderSync.open(path("")).numbers().filter { $0 < 1000 } == expected)
    }

    @Test("a writer that has read from the start gets past a changed byte of its own, and so do all others")
    func repair() throws {
        let file = try "shared/a/\(folder.segments(of: "shared/a")[0])"
        let whole = try #require(folder.content(file))
        for (number, offset) in stride(from: 0, to: whole.count, by: 97).enumerated() {
            // Each process begins a segment after the damaged one.
            try FolderSync.open(path("")).publish(Numbered("a", "later", 2000 + number).record())
            var damaged = whole
            damaged[offset] ^= 0x40
            try folder.write(damaged, to: file)
            let log = LogRecorder()
            let writer = try FolderSync.open(path(""), log: log)
            let isHeldBack = try !writer.numbers().contains(2000 + number)
            let isNamed = log.messages.contains { $0.contains(file) && $0.contains("is damaged") }
            #expect(!isHeldBack || isNamed || offset < 100, "byte \(offset): \(log.messages)")
            try writer.publish(Numbered("a", "news", 3000 + number).record())
            let numbers = try FolderSync.open(path("")).numbers()
            #expect(numbers.contains(2000 + number) && numbers.contains(3000 + number), "byte \(offset): \(numbers)")
            try folder.write(whole, to: file)
        }
        #expect(try Set(expected).isSubset(of: FolderSync.open(path("")).numbers()))
    }

    @Test("bytes that a crash left after the last record are not reported once the writer has continued")
    func rest() throws {
        let file = try "shared/a/\(folder.segments(of: "shared/a")[0])"
        let whole = try #require(folder.content(file))
        try folder.write(whole + [UInt8](repeating: 0, count: 200), to: file)
        try FolderSync.open(path("")).publish(Numbered("a", "later", 100).record())
        let log = LogRecorder()
        #expect(try FolderSync.open(path(""), log: log).numbers() == expected + [100])
        #expect(log.messages == [])
    }

    @Test("every prefix of a segment is read to its last whole record, and reading resumes there")
    func prefixes() throws {
        let file = try "shared/a/\(folder.segments(of: "shared/a")[0])"
        let whole = try #require(folder.content(file))
        let reader = try FolderSync.open(path(""))
        var numbers: [Int] = []
        var position: Data?
        for count in stride(from: 0, through: whole.count, by: 11) {
            try folder.write(whole[..<count], to: file)
            let (records, next) = try reader.all(since: position)
            numbers += records.compactMap { Numbered($0)?.number }
            position = next
        }
        try folder.write(whole, to: file)
        numbers += try reader.numbers(since: position)
        #expect(numbers == expected)
    }

    @Test("an own segment that is cut off, replaced or removed does not hide later records from anyone")
    func ownIsChanged() throws {
        let file = try "shared/a/\(folder.segments(of: "shared/a")[0])"
        let whole = try #require(folder.content(file))
        for (index, change) in ["cut", "replaced", "removed", "longer"].enumerated() {
            try folder.write(whole, to: file)
            switch change {
            case "cut": #expect(truncate("\(folder.path)/\(file)", 500) == 0)
            case "replaced":
                unlink("\(folder.path)/\(file)")
                try folder.write(whole.prefix(700), to: file)
            case "removed": unlink("\(folder.path)/\(file)")
            default: try folder.write(whole + [1, 2, 3], to: file)
            }
            let number = 200 + index
            try transport.publish(Numbered("a", "later", number).record())
            #expect(try FolderSync.open(path("")).numbers().last == number, "\(change)")
            #expect(try transport.numbers().last == number, "\(change)")
        }
    }

    @Test(
        "an unreadable file is reported, and does not hold back records of others",
        .enabled(if: geteuid() != 0, "root reads every file"), arguments: ["a", "segment"])
    func unreadable(_ kind: String) throws {
        try transport.publish((0..<3).map { Numbered("b", "n\($0)", 1000 + $0).record() })
        let closed = try kind == "a" ? path("a") : path("a/\(folder.segments(of: "shared/a")[0])")
        #expect(chmod(closed, 0) == 0)
        let log = LogRecorder()
        let reader = try FolderSync.open(path(""), log: log)
        let (records, position) = try reader.all()
        #expect(records.compactMap { Numbered($0)?.number } == [1000, 1001, 1002])
        #expect(log.messages.contains { $0.contains(closed) }, "\(log.messages)")
        let error = #expect(throws: StorageError.self) {
            try FolderSync.open(path("")).publish(Numbered("a", "n1", 100).record())
        }
        #expect(error?.code == .permissionDenied && error?.description.contains(closed) == true, "\(error as Any)")
        #expect(chmod(closed, kind == "a" ? 0o700 : 0o600) == 0)
        #expect(try reader.numbers(since: position) == expected)
    }

    @Test("a read-only folder is read, and publishing into it reports the reason", .enabled(if: geteuid() != 0))
    func readOnly() throws {
        for folder in ["", "a"] { #expect(chmod(path(folder), 0o500) == 0) }
        defer { for folder in ["", "a"] { chmod(path(folder), 0o700) } }
        let reader = try FolderSync.open(path(""))
        #expect(try reader.numbers() == expected)
        for writer in ["a", "new"] {
            let error = #expect(throws: StorageError.self) {
                try reader.publish(Numbered(writer, "n1", 100).record())
            }
            #expect(error?.code == .permissionDenied && error?.description.contains(path("")) == true)
        }
        for folder in ["", "a"] { #expect(chmod(path(folder), 0o700) == 0) }
        try reader.publish(Numbered("a", "n1", 100).record())
        #expect(try reader.numbers() == expected + [100])
    }

    @Test("a folder that vanishes with its content is not created again", arguments: [true, false])
    func vanished(_ isEmptied: Bool) throws {
        let position = try transport.all().position
        #expect(rename(path("a"), "\(folder.path)/a") == 0)
        if isEmptied {
            // As if it had been set up again, which looks the same as a folder that somebody has emptied.
            #expect(throws: StorageError(.positionLost)) { try transport.all(since: position) }
        } else {
            #expect(rmdir(path("")) == 0)
            #expect(throws: StorageError.storeUnavailable) { try transport.all(since: position) }
            #expect(throws: StorageError.storeUnavailable) {
                try transport.publish(Numbered("a", "n1", 100).record())
            }
            #expect(throws: (any Error).self) {
                try SharedFolder(path: path(""), marker: "").subfolder(of: "a").make()
            }
            #expect(!folder.exists("shared"))
            try TemporaryFolder.makeFolder(path(""))
        }
        #expect(rename("\(folder.path)/a", path("a")) == 0)
        #expect(try transport.numbers(since: position).isEmpty)
        try checkWorks()
    }

    @Test("a reader waits for an unfinished file, but not for long", arguments: [1_000_000_000, 4_000_000_000])
    func unfinished(modified: Int) throws {
        let position = try transport.all().position
        let file = try "shared/a/\(folder.segments(of: "shared/a")[0])"
        let whole = try #require(folder.content(file))
        try folder.write(whole.prefix(20), to: file)
        // Nothing is lost, and nothing is passed again.
        let (records, waiting) = try transport.all(since: position)
        #expect(records.isEmpty)
        try transport.publish(Numbered("b", "n", 7).record())
        let again = try FolderSync.open(path("")).all(since: waiting)
        #expect(again.records.map(\.writer) == ["b"])
        try folder.write(whole, to: file)
        #expect(try FolderSync.open(path("")).all(since: again.position).records.isEmpty)
        try folder.write(whole.prefix(20), to: file)
        // A clock that is decades ahead says as little as a time long ago.
        var times = [timespec(tv_sec: modified, tv_nsec: 0), timespec(tv_sec: modified, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, "\(folder.path)/\(file)", &times, 0) == 0)
        #expect(throws: StorageError(.positionLost)) {
            try FolderSync.open(path("")).all(since: again.position)
        }
    }

    @Test("a reader waits for a file that is shorter than it was, but not for long", arguments: [true, false])
    func putBack(_ isLast: Bool) throws {
        let file = try "shared/a/\(folder.segments(of: "shared/a")[0])"
        let earlier = try #require(folder.content(file))
        try transport.publish((0..<3).map { Numbered("a", "later\($0)", 500 + $0).record() })
        if !isLast { try FolderSync.open(path("")).publish(Numbered("a", "next", 600).record()) }
        let whole = try #require(folder.content(file))
        let position = try transport.all().position
        try folder.write(earlier, to: file)
        let reader = try FolderSync.open(path(""))
        let waiting = try reader.all(since: position)
        #expect(waiting.records.isEmpty)
        try folder.write(whole, to: file)
        #expect(try reader.all(since: waiting.position).records.isEmpty)
        try folder.write(earlier, to: file)
        var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, "\(folder.path)/\(file)", &times, 0) == 0)
        if isLast {
            #expect(throws: StorageError(.positionLost)) { try reader.all(since: waiting.position) }
        } else {
            // The next segment was read, so all before it is known.
            #expect(try reader.all(since: waiting.position).records.isEmpty)
        }
    }

    @Test("a reader waits for a base of a terabyte, and reads the records before it")
    func unfinishedBase() throws {
        let forged = SegmentHeader(
            writer: "a", name: SegmentName(stamp: Publisher.now + 1_000_000_000, id: 99), previous: nil,
            base: .init(end: 1 << 40, floor: Publisher.now, covered: [:]), nextCheck: 0)
        try folder.write(forged.encoded, to: "shared/a/\(forged.name)")
        try checkWorks()
    }
}
