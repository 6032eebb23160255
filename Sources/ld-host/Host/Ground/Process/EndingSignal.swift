internal import CLinux
internal import Glibc

/// A signal that ends the program, as SIGINT does when a person types the interrupt character.
package enum EndingSignal {
    /// Ends the program as the signal does by itself, unless it is ignored.
    package static func end(by signal: Int32) {
        // Threads of the runtime's pool block all signals; the signal would wait forever.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(signal)
    }
}
