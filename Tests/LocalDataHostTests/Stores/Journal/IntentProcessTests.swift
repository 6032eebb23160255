import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("The journal and processes that end", .waitsForPrograms)
struct IntentProcessTests {
    private let scratch: JournalScratch
    private let journal: IntentJournal

    init() throws {
        scratch = try JournalScratch()
        journal = try scratch.journal()
    }

    @Test("an intent whose owner is killed is interrupted at once, with the last payload")
    func killed() async throws {
        let folder = scratch.folder
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
            let journal = try IntentJournal(folder: folder)
            let intent = try journal.begin(kind: "copy", subject: "s", payload: Data([1]))
            try intent.update(payload: Data([2]))
            let own = try journal.pending()
            if own.map(\.state) == [.inProgress], own[0].owner == getpid() { kill(getpid(), SIGKILL) }
            withExtendedLifetime(intent) {}
        }
        let pending = try #require(try journal.pending().first)
        #expect(pending.state == .interrupted)
        #expect(pending.payload == Data([2]))
        #expect(pending.owner != getpid())
        let intent = try journal.adopt(pending.id)
        try intent.finish()
        #expect(scratch.files() == [])
    }

    @Test("an adopted intent whose adopter is killed is interrupted again")
    func killedAdopter() async throws {
        let folder = scratch.folder
        let id = try scratch.interrupted("copy", "s", Data([1])).description
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, id = id as String] in
            let intent = try IntentJournal(folder: folder).adopt(try #require(IntentID(id)))
            kill(getpid(), SIGKILL)
            withExtendedLifetime(intent) {}
        }
        #expect(try journal.pending().map(\.state) == [.interrupted])
    }

    @Test("another process sees an intent in progress and cannot take it over")
    func inProgress() async throws {
        let folder = scratch.folder
        let intent = try journal.begin(kind: "copy", subject: "s")
        try intent.update(payload: Data([1]))
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            let journal = try IntentJournal(folder: folder)
            let pending = try #require(try journal.pending().first)
            #expect(pending.state == .inProgress)
            #expect(throws: StorageError.busy) { try journal.adopt(pending.id) }
        }
        try intent.finish()
    }

    @Test("an update that the system refuses leaves the old payload, the owner and no debris")
    func refused() async throws {
        let folder = scratch.folder
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            let journal = try IntentJournal(folder: folder)
            let intent = try journal.begin(kind: "copy", subject: "s", payload: Data([1]))
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 10_000, rlim_max: 1_000_000)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            #expect(throws: StorageError.fileError) { try intent.update(payload: Data(count: 10_001)) }
            #expect(throws: StorageError.fileError) {
                try journal.begin(kind: "copy", subject: "s", payload: Data(count: 10_001))
            }
            #expect(intent.payload == Data([1]))
            let pending = try IntentJournal(folder: folder).pending()
            #expect(pending.map(\.payload) == [Data([1])])
            #expect(pending.map(\.state) == [.inProgress])
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/.tmp").isEmpty)
            try intent.finish()
        }
        #expect(scratch.files() == [])
    }

    @Test("an intent of another user's folder is refused and stays", .enabled(if: geteuid() == 0))
    func otherUserAsRoot() async throws {
        let folder = scratch.folder
        let id = try scratch.interrupted("copy").description
        #expect(chmod(scratch.path, 0o755) == 0 && chmod("\(scratch.path)/state", 0o755) == 0)
        await #expect(processExitsWith: .success) { [folder = folder as String, id = id as String] in
            #expect(seteuid(65534) == 0)
            let journal = try IntentJournal(folder: folder)
            #expect(throws: StorageError.permissionDenied) { try journal.survey() }
            let id = try #require(IntentID(id))
            #expect(throws: StorageError.permissionDenied) { try journal.adopt(id) }
            #expect(throws: StorageError.permissionDenied) { try journal.begin(kind: "copy", subject: "s") }
        }
        #expect(scratch.files() == ["\(id).intent"])
    }
}
