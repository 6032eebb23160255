import LocalDataAPI
import Synchronization
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite struct DeadlineClockTests {
    @Test("deadlines expire in the order of their times, whichever was set first; a cancelled one does not")
    func order() async throws {
        let passed = Mutex<[Int]>([])
        let lifted = DeadlineClock.shared.set(.milliseconds(50)) { passed.withLock { $0.append(0) } }
        await withCheckedContinuation { continuation in
            _ = DeadlineClock.shared.set(.milliseconds(600)) {
                passed.withLock { $0.append(3) }
                continuation.resume()
            }
            _ = DeadlineClock.shared.set(.milliseconds(300)) { passed.withLock { $0.append(2) } }
            _ = DeadlineClock.shared.set(.milliseconds(20)) { passed.withLock { $0.append(1) } }
            DeadlineClock.shared.lift(lifted)
        }
        #expect(passed.withLock { $0 } == [1, 2, 3])
    }

    @Test("a deadline does not expire early")
    func late() async throws {
        let start = SuspendingClock.now
        await withCheckedContinuation { continuation in
            _ = DeadlineClock.shared.set(.milliseconds(30)) { continuation.resume() }
        }
        #expect(SuspendingClock.now - start >= .milliseconds(30))
    }
}
