import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

/// One operation in a separate process: this test program, started again with only this test, in which the fault
/// injector hits one call. Without the injector's variables the test does nothing.
@Suite("The steps of a SQLite database")
struct DatabaseSteps {
    /// The variables with the home and the name of the operation.
    private static let (homeVariable, nameVariable) = ("LOCALDATA_DATABASE_HOME", "LOCALDATA_DATABASE_STEP")
    private static let home = ProcessInfo.processInfo.environment[homeVariable]

    /// Runs an operation in a home, with the injector configured by `variables`.
    static func run(
        _ operation: DatabaseOperation, in home: Home, _ variables: [String: String]
    ) throws -> Home.Ending {
        try home.run(
            TestRun.program, ["--filter", "DatabaseSteps", "--testing-library", "swift-testing"],
            adding: variables.merging([homeVariable: home.path, nameVariable: operation.name]) { $1 })
    }

    /// The outcome that the process printed: `done`, or an error's code and message.
    static func said(in ending: Home.Ending) -> String? {
        ending.text.split(separator: "\n").first { $0.hasPrefix("step: ") }.map { String($0.dropFirst(6)) }
    }

    @Test("succeed, or fail with an error that states the result", .enabled(if: home != nil))
    func steps() throws {
        let name = try #require(ProcessInfo.processInfo.environment[Self.nameVariable])
        let operation = try #require(DatabaseOperation.all.first { $0.name == name })
        do {
            try operation.run(DatabaseUnderFaults(in: try #require(Self.home)))
            Self.say("done")
        } catch let error as StorageError {
            Self.say("\(error.code.rawValue) \(error.message)")
        }
    }

    private static func say(_ text: String) {
        let line = Array("step: \(text)\n".utf8)
        _ = write(STDOUT_FILENO, line, line.count)
    }
}
