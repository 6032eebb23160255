import Foundation
import Synchronization
import TestSupport

/// Work on a thread that runs next to the test's thread.
final class Background: Sendable {
    private let gate = Gate()
    private let failure = Mutex<(any Error)?>(nil)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { [self] in
            do { try body() } catch { failure.withLock { $0 = error } }
            gate.open()
        }
    }

    /// Waits for its end.
    func wait() throws {
        guard gate.wait() else { throw TestFailure("the work beside the test did not end") }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
