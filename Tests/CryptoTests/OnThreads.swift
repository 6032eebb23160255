import Foundation
import Synchronization

/// Threads that run at once.
enum OnThreads {
    /// Runs `body` on so many threads, and adds up what they return.
    static func count(
        _ threads: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Int
    ) -> Result<Int, any Error> {
        let sum = Mutex(Result<Int, any Error>.success(0))
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let outcome = Result { try body(thread) }
            sum.withLock { sum in sum = sum.flatMap { so in outcome.map { so + $0 } } }
        }
        return sum.withLock { $0 }
    }
}
