import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import MigrationExercise
import Testing

/// The conditions that must hold for migrations at every instant.
struct MigrationChecks {
    let subject: ExerciseCase
    /// A description of the run, for messages.
    let what: String

    /// Each value has one authoritative location: where its ledger row says, or the old location if it has no row.
    func checkValues(_ look: ExerciseLook) {
        #expect(subject.allows(look), "\(look); \(what)")
    }

    /// The app gets the old value or the migrated one, whichever there are.
    func checkValue(_ got: ExerciseReport.Ending<Data>?) throws {
        let got = try #require(got)
        let isRight = got.value == subject.wanted || got.value == subject.old
        #expect(got.error == nil && isRight, "cannot be read: \(got.error ?? "another value"); \(what)")
    }

    /// The result that a migration reports must match the state that is found.
    func checkEnding(_ ending: ExerciseReport.Ending<String>?, found look: ExerciseLook?) throws {
        let (ending, look) = (try #require(ending), try #require(look))
        let isCopied = look.values[subject.address] == subject.wanted
        let isDone = look.rows.map(\.id) == subject.ids && look.rows.allSatisfy { $0.state != .copying || isCopied }
        let isClean = isDone && look.rows.allSatisfy { $0.state == .clean }
        switch ending.value {
        case "migrated": #expect(isClean, "success without effect: \(look.rows); \(what)")
        case "migrated, sources not yet removed": #expect(isDone, "success without effect: \(look.rows); \(what)")
        case nil:
            let message = ending.error ?? ""
            let isNamed = message.hasPrefix("the migration '") || message.hasPrefix("the container '")
            #expect(isNamed, "no message: \(message); \(what)")
            #expect(!isDone || ending.isUnknown || subject.isInParts, "failure with effect: \(message); \(what)")
        default: Issue.record("it ended with \(ending); \(what)")
        }
    }
}
