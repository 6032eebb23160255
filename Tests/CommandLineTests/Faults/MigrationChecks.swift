import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import MigrationExercise
import Testing

/// What must hold of migrations at every instant.
struct MigrationChecks {
    let subject: ExerciseCase
    /// What was done, for messages.
    let what: String

    /// One authority: what no row of the ledger says is where it was, and what a row says is where the row says.
    func checkValues(_ look: ExerciseLook) {
        #expect(subject.allows(look), "\(look); \(what)")
    }

    /// The app gets the value of before, if there was one, or else the new one, if there is to be one.
    func checkValue(_ got: ExerciseReport.Ending<Data>?) throws {
        let got = try #require(got)
        let isRight = got.value == subject.wanted || got.value == subject.old
        #expect(got.error == nil && isRight, "cannot be read: \(got.error ?? "another value"); \(what)")
    }

    /// What a migration said of itself is what is found.
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
