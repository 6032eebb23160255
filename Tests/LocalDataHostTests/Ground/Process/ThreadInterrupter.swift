import Glibc
import Synchronization
import Testing

/// Sends signals to one thread, so that its waiting system calls end with EINTR again and again.
final class ThreadInterrupter: Sendable {
    private let target: pthread_t
    private let fifo: String
    private let isOver = Atomic<Bool>(false)

    /// A real-time signal that nothing else here uses.
    private static let signal: Int32 = 50

    private init(target: pthread_t, fifo: String) {
        self.target = target
        self.fifo = fifo
    }

    /// Runs the body while its thread is interrupted: until another thread reads from the FIFO, and a thousand more
    /// times. Then the reader gets a line.
    static func interrupting<Result>(until fifo: String, _ body: () throws -> Result) throws -> Result {
        var action = sigaction()
        // Without SA_RESTART, which would hide the interruption from most calls.
        action.__sigaction_handler.sa_handler = { _ in }
        try #require(sigaction(signal, &action, nil) == 0)
        // The threads of Swift's pool have all signals blocked.
        var signals = sigset_t()
        var before = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        try #require(pthread_sigmask(SIG_UNBLOCK, &signals, &before) == 0)
        let interrupter = ThreadInterrupter(target: pthread_self(), fifo: fifo)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(interrupter)
        let created = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<ThreadInterrupter>.fromOpaque(context).takeRetainedValue().interrupt() }
                return nil
            }, context.toOpaque())
        try #require(created == 0)
        defer {
            interrupter.isOver.store(true, ordering: .relaxed)
            pthread_join(thread, nil)
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        return try body()
    }

    private func interrupt() {
        var writer: CInt = -1
        while writer < 0 && !isOver.load(ordering: .relaxed) {
            pthread_kill(target, Self.signal)
            sched_yield()
            // Opening fails as long as there is no reader.
            writer = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        }
        for _ in 0..<1000 {
            pthread_kill(target, Self.signal)
            sched_yield()
        }
        if writer >= 0 {
            write(writer, "\n", 1)
            close(writer)
        }
    }
}
