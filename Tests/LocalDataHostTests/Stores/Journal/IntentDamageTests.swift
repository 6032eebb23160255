import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("A damaged journal")
struct IntentDamageTests {
    private let scratch: JournalScratch
    private let journal: IntentJournal

    init() throws {
        scratch = try JournalScratch()
        journal = try scratch.journal()
    }

    @Test("is reported along with sound intents, and stays unchanged", arguments: [0, 4, 31, 40, 53])
    func damaged(size: Int) throws {
        let id = try scratch.interrupted("copy", "damaged", Data([1, 2, 3]))
        let whole = try scratch.interrupted("copy", "whole")
        let bytes = try scratch.bytes(of: id).prefix(size)
        try scratch.write(bytes, to: "\(id).intent")
        let survey = try journal.survey()
        #expect(survey.pending.map(\.id) == [whole])
        #expect(survey.unreadable.map(\.path) == ["\(scratch.folder)/\(id).intent"])
        #expect(survey.unreadable.map(\.error.code) == [.corrupt])
        let error = try #require(throws: StorageError.self) { try journal.adopt(id) }
        #expect(error.code == .corrupt)
        #expect(error.message.contains("\(scratch.folder)/\(id).intent"))
        #expect(try scratch.bytes(of: id) == bytes)
    }

    @Test("distinguishes a newer program's intents from damaged ones")
    func newer() throws {
        let id = try scratch.interrupted("copy")
        var bytes = try scratch.bytes(of: id)
        bytes[4] = 2
        try scratch.write(bytes, to: "\(id).intent")
        let error = try #require(try journal.survey().unreadable.first?.error)
        #expect(error.code == .unsupported)
        #expect(error.message.contains("version 2; expected 1"))
        #expect(throws: StorageError.unsupported) { try journal.adopt(id) }
        #expect(try scratch.bytes(of: id) == bytes)
    }

    @Test("reports a copy of an intent under another intent's name")
    func renamed() throws {
        let id = try scratch.interrupted("copy")
        let copy = IntentID.next()
        try scratch.write(try scratch.bytes(of: id), to: "\(copy).intent")
        let survey = try journal.survey()
        #expect(survey.pending.map(\.id) == [id])
        #expect(survey.unreadable.map(\.error.code) == [.corrupt])
    }

    @Test("ignores foreign files, and names those that only look like intents")
    func foreign() throws {
        try scratch.interrupted("copy")
        for name in ["README", "x.intent", ".intent", "0.INTENT"] { try scratch.write(Data([1]), to: name) }
        #expect(mkdir("\(scratch.folder)/\(IntentID.next()).intent", 0o700) == 0)
        #expect(symlink("README", "\(scratch.folder)/\(IntentID.next()).intent") == 0)
        #expect(mkfifo("\(scratch.folder)/\(IntentID.next()).intent", 0o600) == 0)
        let survey = try journal.survey()
        #expect(survey.pending.count == 1)
        let codes = survey.unreadable.map(\.error.code)
        #expect(codes.count { $0 == .fileError } == 3)
        #expect(codes.count { $0 == .corrupt } == 1 && codes.count == 4)
    }

    @Test("is an error where a folder is expected")
    func noFolder() throws {
        try FileManager.default.createDirectory(atPath: "\(scratch.path)/state", withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: scratch.folder))
        for call in [{ _ = try journal.survey() }, { _ = try journal.begin(kind: "k", subject: "s") }] {
            let error = try #require(throws: StorageError.self) { try call() }
            #expect(error.code == .fileError)
            #expect(error.message.contains(scratch.folder))
        }
    }
}
