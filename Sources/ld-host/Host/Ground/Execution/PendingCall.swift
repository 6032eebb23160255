internal import LocalDataAPI
internal import Synchronization

/// A call whose caller may give up before it ends. The first result counts; others are ignored.
final class PendingCall<Value: Sendable>: Sendable {
    /// How the call ended; the store's own errors are separate from the host's.
    enum End: Sendable {
        case ended(Result<Value, StorageError>)
        case timedOut
        case cancelled
    }

    private typealias Continuation = CheckedContinuation<End, Never>

    private enum State {
        case new
        case waiting(Continuation)
        case finished(End)
        case done
    }

    private let state = Mutex(State.new)

    /// Takes the caller's continuation; `false` if the call was cancelled before it began and has its result.
    func start(_ continuation: CheckedContinuation<End, Never>) -> Bool {
        let early: End? = state.withLock { state in
            if case .finished(let end) = state {
                state = .done
                return end
            }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(returning: early) }
        return early == nil
    }

    var isWaiting: Bool {
        state.withLock { if case .waiting = $0 { true } else { false } }
    }

    func finish(_ end: End) {
        let continuation: Continuation? = state.withLock { state in
            switch state {
            case .new:
                state = .finished(end)
                return nil
            case .waiting(let continuation):
                state = .done
                return continuation
            case .finished, .done: return nil
            }
        }
        continuation?.resume(returning: end)
    }
}
