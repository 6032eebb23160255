internal import Glibc
internal import Synchronization

/// What is done when the process ends by itself: when `main` returns, or by exit(3). A signal and `_exit(2)` end it
/// without this.
package enum ExitWork {
    private static let process = getpid()
    private static let work = Mutex<(@Sendable () -> Void)?>(nil)

    /// Sets what is done, on the thread that ends the process.
    package static func set(_ body: @escaping @Sendable () -> Void) {
        _ = process
        work.withLock { $0 = body }
        comeFirst()
    }

    /// Does it before what has been registered with atexit(3) until now. Functions registered later run earlier, and
    /// those of a library end its use: OpenSSL registers one when it is first used.
    static func comeFirst() {
        guard work.withLock({ $0 != nil }) else { return }
        atexit(exitWorkRun)
    }

    fileprivate static func run() {
        // A child process that was forked has none of the threads that would do the work.
        guard getpid() == process else { return }
        work.withLock { $0 }?()
    }
}

private func exitWorkRun() { ExitWork.run() }
