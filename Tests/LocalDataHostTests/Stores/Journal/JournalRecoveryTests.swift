import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("Recovery from the journal", .waitsForPrograms)
struct JournalRecoveryTests {
    private struct OtherError: Error {}

    private let scratch: JournalScratch
    private let journal: IntentJournal

    init() throws {
        scratch = try JournalScratch()
        journal = try scratch.journal()
    }

    @Test("finds and creates nothing without a journal")
    func nothing() throws {
        #expect(try journal.recover(with: JournalRecovery(["copy": .onDemand])).isEmpty)
        #expect(JournalScratch.mode(of: scratch.folder) == nil)
    }

    @Test("resumes interrupted work in the order of its creation, and finishes it")
    func order() throws {
        let ids = try (0..<5).map { try scratch.interrupted("copy", "\($0)", Data([UInt8($0)])) }
        let handled = Mutex<[Data]>([])
        let recovery = JournalRecovery([
            "copy": .atOpen { intent in
                let found = try journal.pending().first { $0.id == intent.id }
                #expect(found?.state == .inProgress)
                handled.withLock { $0.append(intent.payload) }
            }
        ])
        let report = try journal.recover(with: recovery)
        #expect(report.recovered.map(\.id) == ids)
        #expect(handled.withLock(\.self) == (0..<5).map { Data([$0]) })
        #expect(scratch.files() == [])
        #expect(try journal.recover(with: recovery).isEmpty)
    }

    @Test("leaves intents that are on demand, unknown, in progress or damaged, and reports each")
    func kinds() throws {
        let waiting = try scratch.interrupted("reseal")
        let unknown = try scratch.interrupted("of-a-newer-program")
        let damaged = try scratch.interrupted("copy")
        try scratch.write(Data([1]), to: "\(damaged).intent")
        let inProgress = try scratch.journal().begin(kind: "copy", subject: "s")
        let recovered = try scratch.interrupted("copy")
        let report = try journal.recover(with: JournalRecovery(["copy": .atOpen { _ in }, "reseal": .onDemand]))
        #expect(report.waiting.map(\.id) == [waiting])
        #expect(report.unknown.map(\.id) == [unknown])
        #expect(report.unreadable.map(\.path) == ["\(scratch.folder)/\(damaged).intent"])
        #expect(report.inProgress.map(\.id) == [inProgress.id])
        #expect(report.recovered.map(\.id) == [recovered])
        #expect(report.failures.isEmpty && !report.isEmpty)
        #expect(scratch.files() == [waiting, unknown, damaged, inProgress.id].map { "\($0).intent" })
    }

    @Test("keeps the intent of a handler that fails, reports it, and continues with the others")
    func failing() throws {
        let ids = try ["refused", "odd", "good"].map { try scratch.interrupted("copy", $0) }
        let recovery = JournalRecovery([
            "copy": .atOpen { intent in
                switch intent.subject {
                case "refused":
                    try intent.update(payload: Data([9]))
                    throw StorageError(.storeUnavailable, "not yet")
                case "odd": throw OtherError()
                default: break
                }
            }
        ])
        let report = try journal.recover(with: recovery)
        #expect(report.failures.map(\.intent.id) == [ids[0], ids[1]])
        #expect(report.failures.map(\.error.code) == [.storeUnavailable, .unknown])
        #expect(report.failures.first?.error.message == "not yet")
        #expect(report.recovered.map(\.id) == [ids[2]])
        #expect(try journal.pending().map(\.state) == [.interrupted, .interrupted])
        #expect(try journal.pending().map(\.payload) == [Data([9]), Data()])
        let second = try journal.recover(with: JournalRecovery(["copy": .atOpen { _ in }]))
        #expect(second.recovered.map(\.id) == [ids[0], ids[1]])
    }

    @Test("accepts a handler that has finished its intent itself")
    func finishing() throws {
        let id = try scratch.interrupted("copy")
        let report = try journal.recover(with: JournalRecovery(["copy": .atOpen { try $0.finish() }]))
        #expect(report.recovered.map(\.id) == [id])
        #expect(scratch.files() == [])
    }

    @Test("calls the handler once for each intent when 16 open at once")
    func crowd() async throws {
        let folder = scratch.folder
        let ids = try (0..<20).map { _ in try scratch.interrupted("copy") }
        let handled = Mutex<[IntentID]>([])
        let reports = try await JournalScratch.atOnce(16) { _ in
            try IntentJournal(folder: folder).recover(
                with: JournalRecovery([
                    "copy": .atOpen { intent in handled.withLock { $0.append(intent.id) } }
                ]))
        }
        #expect(handled.withLock { $0.sorted() } == ids)
        #expect(reports.flatMap(\.recovered).map(\.id).sorted() == ids)
        #expect(reports.allSatisfy { $0.failures.isEmpty && $0.unreadable.isEmpty })
        #expect(scratch.files() == [])
    }

    @Test("calls the handler once for each intent when several processes open at once")
    func processes() async throws {
        let folder = scratch.folder
        let log = "\(scratch.path)/log"
        let ids = try (0..<20).map { _ in try scratch.interrupted("copy") }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [folder = folder as String, log = log as String] in
                        let report = try IntentJournal(folder: folder).recover(
                            with: JournalRecovery([
                                "copy": .atOpen { intent in
                                    let file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
                                    defer { close(file) }
                                    let line = Array("\(intent.id)\n".utf8)
                                    #expect(write(file, line, line.count) == line.count)
                                }
                            ]))
                        #expect(report.failures.isEmpty && report.unreadable.isEmpty)
                    }
                }
            }
        }
        let handled = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(handled.sorted() == ids.map(\.description))
        #expect(scratch.files() == [])
    }
}
