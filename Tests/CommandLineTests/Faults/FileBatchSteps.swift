import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// One batch of the file store, in a separate process: this test program, started again with only this test, in which
/// the fault injector hits one call. Without the injector's variables the test does nothing.
@Suite("The steps of a batch")
struct FileBatchSteps {
    /// The variables with the home that has the store, and with the batch's name.
    private static let (variable, kind) = ("LOCALDATA_BATCH_STEPS", "LOCALDATA_BATCH_KIND")
    private static let environment = ProcessInfo.processInfo.environment
    private static let home = environment[variable]

    /// Runs a batch in a home, with the injector configured by `variables`. The file `outcome` has one line with the
    /// result.
    static func run(
        _ batch: FileBatchOperation, in home: Home, _ variables: [String: String]
    ) throws -> Home.Ending {
        unlink("\(home.path)/outcome")
        return try home.run(
            TestRun.program, ["--filter", "FileBatchSteps", "--testing-library", "swift-testing"],
            adding: variables.merging([variable: home.path, kind: batch.name]) { $1 })
    }

    @Test("end with the reported result", .enabled(if: home != nil))
    func steps() throws {
        let home = try #require(Self.home)
        let batch = try #require(FileBatchOperation.all.first { $0.name == Self.environment[Self.kind] })
        let store = try FileBatchOperation.open(home)
        var line = "applied"
        do { try batch.apply(to: store, home) } catch {
            line = (error.code == .durabilityUnknown ? "unknown: " : "unchanged: ") + error.message
        }
        let bytes = Array(line.utf8)
        let file = open("\(home)/outcome", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        if write(file, bytes, bytes.count) != bytes.count { exit(125) }
    }
}
