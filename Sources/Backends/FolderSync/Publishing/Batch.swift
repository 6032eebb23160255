import FoundationEssentials
import LocalDataPluginAPI
import Synchronization

/// Changes that one call publishes, and what came of it.
final class Batch: Sendable {
    struct Change: Sendable {
        let kind: FrameKind
        let name: String
        let content: Data
    }

    let changes: [Change]
    private let outcome = Mutex<Result<Void, any Error>?>(nil)

    init(_ changes: [Change]) { self.changes = changes }

    var result: Result<Void, any Error>? { outcome.withLock { $0 } }

    func finish(_ result: Result<Void, any Error>) { outcome.withLock { $0 = result } }
}
