import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostStores
@testable import LocalDataHost

/// A temporary folder with a journal in it; removed with its owner.
final class JournalScratch: Sendable {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    var path: String { scratch.path }
    var folder: String { "\(path)/state/journal" }

    /// The journal, as another process would open it: it shares nothing with the others of this test.
    func journal() throws -> IntentJournal { try IntentJournal(folder: folder) }

    /// The names of the intents' files.
    func files() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0 != ".tmp" }.sorted()
    }

    /// Begins an intent and abandons it.
    @discardableResult
    func interrupted(_ kind: String, _ subject: String = "a subject", _ payload: Data = Data()) throws -> IntentID {
        try journal().begin(kind: kind, subject: subject, payload: payload).id
    }

    func bytes(of id: IntentID) throws -> Data { try Data(contentsOf: URL(filePath: "\(folder)/\(id).intent")) }

    func write(_ bytes: Data, to name: String) throws { try bytes.write(to: URL(filePath: "\(folder)/\(name)")) }

    static func mode(of path: String) -> UInt32? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    /// Runs `body` so many times at once, each on a separate thread.
    static func atOnce<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            for index in 0..<count {
                group.addTask(executorPreference: IOExecutor.shared) { try body(index) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
