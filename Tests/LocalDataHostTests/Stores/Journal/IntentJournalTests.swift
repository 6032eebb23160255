import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("IntentJournal")
struct IntentJournalTests {
    private let scratch: JournalScratch
    private let journal: IntentJournal
    /// The same folder, as another process sees it.
    private let other: IntentJournal

    init() throws {
        scratch = try JournalScratch()
        journal = try scratch.journal()
        other = try scratch.journal()
    }

    @Test("shows others an intent from its beginning to its end, and leaves nothing")
    func life() throws {
        #expect(try other.pending().isEmpty)
        let intent = try journal.begin(kind: "copy", subject: "copy a to b", payload: Data([1, 2]))
        let found = try #require(try other.pending().first)
        #expect(found.id == intent.id)
        #expect(found.kind == "copy")
        #expect(found.subject == "copy a to b")
        #expect(found.payload == Data([1, 2]))
        #expect(found.owner == getpid())
        #expect(found.state == .inProgress)
        #expect(found.created > 1_600_000_000_000_000_000)
        try intent.update(payload: Data([3]))
        #expect(intent.payload == Data([3]))
        #expect(try other.pending().map(\.payload) == [Data([3])])
        try intent.finish()
        #expect(try other.pending().isEmpty)
        #expect(scratch.files() == [])
    }

    @Test("creates nothing before the first intent, and then files for the user alone")
    func modes() throws {
        #expect(try journal.pending().isEmpty)
        #expect(throws: StorageError.notFound) { try journal.adopt(.next()) }
        #expect(JournalScratch.mode(of: scratch.folder) == nil)
        let intent = try journal.begin(kind: "copy", subject: "s")
        #expect(JournalScratch.mode(of: scratch.folder) == 0o700)
        #expect(JournalScratch.mode(of: "\(scratch.folder)/\(intent.id).intent") == 0o600)
        try intent.update(payload: Data([1]))
        #expect(JournalScratch.mode(of: "\(scratch.folder)/\(intent.id).intent") == 0o600)
    }

    @Test("refuses a folder that is not absolute")
    func relativeFolder() { #expect(throws: StorageError.fileError) { try IntentJournal(folder: "journal") } }

    @Test("lists by kind, in the order of beginning")
    func listing() throws {
        let ids = try (0..<6).map { try scratch.interrupted($0 % 2 == 0 ? "copy" : "reseal", "\($0)") }
        #expect(try journal.pending().map(\.id) == ids)
        #expect(try journal.pending(kind: "reseal").map(\.subject) == ["1", "3", "5"])
        #expect(try journal.pending(kind: "batch").isEmpty)
    }

    @Test("keeps an abandoned intent until another process has taken it over and finished it")
    func adoption() throws {
        let id = try scratch.interrupted("copy", "s", Data([1]))
        #expect(try journal.pending().map(\.state) == [.interrupted])
        do {
            let intent = try journal.adopt(id)
            #expect(intent.id == id && intent.kind == "copy" && intent.subject == "s" && intent.payload == Data([1]))
            #expect(try other.pending().map(\.state) == [.inProgress])
            try intent.update(payload: Data([2]))
        }
        #expect(try journal.pending().map(\.state) == [.interrupted])
        let intent = try other.adopt(id)
        #expect(intent.payload == Data([2]))
        try intent.finish()
        #expect(throws: StorageError.notFound) { try journal.adopt(id) }
    }

    @Test("never hands over an intent whose owner lives, however often it is updated")
    func exclusion() throws {
        let intent = try journal.begin(kind: "copy", subject: "s")
        for round in 0..<5 {
            #expect(throws: StorageError.busy) { try other.adopt(intent.id) }
            #expect(throws: StorageError.busy) { try journal.adopt(intent.id) }
            #expect(try other.pending().map(\.state) == [.inProgress])
            try intent.update(payload: Data([UInt8(round)]))
        }
    }

    @Test("refuses to update a finished intent, and finishes twice without harm")
    func finished() throws {
        let intent = try journal.begin(kind: "copy", subject: "s")
        try intent.finish()
        try intent.finish()
        #expect(throws: StorageError.notFound) { try intent.update(payload: Data([1])) }
        #expect(scratch.files() == [])
    }

    @Test("refuses a payload that is too large; the old one stays")
    func tooLarge() throws {
        let intent = try journal.begin(kind: "copy", subject: "s", payload: Data([1]))
        let large = Data(count: IntentRecord.largestPayload + 1)
        #expect(throws: StorageError.valueTooLarge) { try intent.update(payload: large) }
        #expect(intent.payload == Data([1]))
        #expect(try other.pending().map(\.payload) == [Data([1])])
    }

    @Test("gives an interrupted intent to one of 16 that want it at once")
    func race() async throws {
        let folder = scratch.folder
        for _ in 0..<20 {
            let id = try scratch.interrupted("copy")
            // Adopted intents are kept until all have tried.
            let adopted = try await JournalScratch.atOnce(16) { _ -> Intent? in
                do {
                    return try IntentJournal(folder: folder).adopt(id)
                } catch StorageError.busy {
                    return nil
                }
            }
            #expect(adopted.compactMap(\.self).count == 1)
            try adopted.compactMap(\.self).first?.finish()
        }
        #expect(scratch.files() == [])
    }

    @Test("never shows an intent interrupted, damaged or free while its owner updates and finishes it")
    func watched() async throws {
        let folder = scratch.folder
        let isDone = Mutex(false)
        let seen = try await JournalScratch.atOnce(4) { index in
            let journal = try IntentJournal(folder: folder)
            var seen = 0
            if index == 0 {
                defer { isDone.withLock { $0 = true } }
                for round in 0..<20 {
                    let intent = try journal.begin(kind: "copy", subject: "s")
                    for size in 0..<5 { try intent.update(payload: Data(repeating: 7, count: size * 10_000 + round)) }
                    try intent.finish()
                }
            }
            while !isDone.withLock(\.self) {
                let survey = try journal.survey()
                #expect(survey.unreadable.isEmpty)
                for pending in survey.pending {
                    seen += 1
                    #expect(pending.state == .inProgress)
                    #expect(pending.payload.allSatisfy { $0 == 7 })
                    do {
                        _ = try journal.adopt(pending.id)
                        Issue.record("taken over from a living owner")
                    } catch StorageError.busy, StorageError.notFound {
                        continue
                    }
                }
            }
            return seen
        }
        #expect(seen.reduce(0, +) > 0)
        #expect(scratch.files() == [])
    }

    @Test("keeps owners and their intents apart under load")
    func load() async throws {
        let folder = scratch.folder
        let ids = try await JournalScratch.atOnce(16) { index in
            let intent = try IntentJournal(folder: folder).begin(kind: "copy", subject: "\(index)")
            try intent.update(payload: Data([UInt8(index)]))
            if index % 2 == 0 { try intent.finish() }
            return index % 2 == 0 ? nil : intent.id
        }
        let pending = try journal.pending()
        #expect(Set(pending.map(\.id)) == Set(ids.compactMap(\.self)))
        #expect(pending.allSatisfy { $0.state == .interrupted && "\($0.payload[0])" == $0.subject })
    }
}
