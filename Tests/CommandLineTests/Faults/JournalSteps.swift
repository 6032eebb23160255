import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport
import Testing

/// The lifecycle of one intent, in a separate process: this test program, started again with only this test, in which
/// the fault injector hits one call. Without the injector's variables the test does nothing.
@Suite("The steps of an intent")
struct JournalSteps {
    /// The variable with the home that has the journal.
    private static let variable = "LOCALDATA_JOURNAL_STEPS"
    private static let home = ProcessInfo.processInfo.environment[variable]
    /// The intent's first payload, and its second one.
    static let payloads = [Data("the first payload".utf8), Data(repeating: 0x42, count: 70_000)]
    static let kind = "steps"

    /// The journal of a home.
    static func journal(of home: String) throws -> IntentJournal {
        try IntentJournal(folder: "\(home)/state/journal")
    }

    /// Runs the steps in a home, with the injector configured by `variables`.
    static func run(in home: Home, _ variables: [String: String]) throws -> Home.Ending {
        try home.run(
            TestRun.program, ["--filter", "JournalSteps", "--testing-library", "swift-testing"],
            adding: variables.merging([variable: home.path]) { $1 })
    }

    @Test("are written one by one, and a failure leaves the old state", .enabled(if: home != nil))
    func steps() throws {
        let journal = try Self.journal(of: try #require(Self.home))
        let begun: Intent
        do {
            begun = try journal.begin(kind: Self.kind, subject: "s", payload: Self.payloads[0])
        } catch {
            Self.say("failed begin: \(error)")
            try expect([], "a failed begin")
            begun = try journal.begin(kind: Self.kind, subject: "s", payload: Self.payloads[0])
        }
        try expect([Self.payloads[0]], "begin")
        Self.say("begun")
        do {
            try begun.update(payload: Self.payloads[1])
        } catch {
            Self.say("failed update: \(error)")
            let isNew = "\(error)".contains("may not survive a power loss")
            try expect([Self.payloads[isNew ? 1 : 0]], "a failed update")
            if begun.payload != Self.payloads[isNew ? 1 : 0] { Self.say("wrong: the object is not as the file") }
            try begun.update(payload: Self.payloads[1])
        }
        try expect([Self.payloads[1]], "update")
        Self.say("updated")
        do {
            try begun.finish()
        } catch {
            Self.say("failed finish: \(error)")
            let isGone = "\(error)".contains("may not survive a power loss")
            try expect(isGone ? [] : [Self.payloads[1]], "a failed finish")
            try begun.finish()
        }
        try expect([], "finish")
        Self.say("finished")
    }

    /// Compares with the payloads that another process would find.
    private func expect(_ payloads: [Data], _ step: String) throws {
        let survey = try Self.journal(of: try #require(Self.home)).survey()
        let own = survey.pending.filter { $0.kind == Self.kind }
        guard survey.unreadable.isEmpty, own.map(\.payload) == payloads, own.allSatisfy({ $0.state == .inProgress })
        else { return Self.say("wrong: after \(step) there is \(survey)") }
    }

    /// Writes a line for the test that started this.
    private static func say(_ line: String) {
        let line = Array("\(line)\n".utf8)
        let file = open("\(home ?? "")/steps", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        if write(file, line, line.count) != line.count { exit(125) }
    }
}
