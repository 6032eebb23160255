import LocalDataAPI
import LocalDataHost
import Synchronization

/// The value of a `@Shared` property under a typed key: `@Shared(.stored(.theme)) var theme = "light"`.
struct StoreSharedKey<Value: Codable & Sendable>: SharedKey {
    struct ID: Hashable {
        let router: ObjectIdentifier
        let domain: StorageDomain
        let name: String
    }

    let key: StorageKey<Value>
    let router: StorageRouter
    /// Saves values in order.
    private let writer: Writer

    init(_ key: StorageKey<Value>, router: StorageRouter = .shared) {
        self.key = key
        self.router = router
        writer = Writer()
    }

    var id: ID { ID(router: ObjectIdentifier(router), domain: key.domain, name: key.name) }

    /// Loads at once if the store answers from memory or disk, so that the first view shows the stored value.
    func load(context: LoadContext<Value>, continuation: LoadContinuation<Value>) {
        do {
            continuation.resume(returning: try router.getNow(key))
        } catch StorageError.notFound {
            continuation.resumeReturningInitialValue()
        } catch StorageError.unsupported {
            Task {
                do { continuation.resume(returning: try await router.get(key)) } catch StorageError.notFound {
                    continuation.resumeReturningInitialValue()
                } catch { continuation.resume(throwing: error) }
            }
        } catch { continuation.resume(throwing: error) }
    }

    /// Passes on what others store, first what they stored before the watch began.
    func subscribe(context: LoadContext<Value>, subscriber: SharedSubscriber<Value>) -> SharedSubscription {
        let watching = Task {
            do {
                var changes = try await router.changes(of: key).makeAsyncIterator()
                while !Task.isCancelled {
                    await pass(to: subscriber)
                    do { if try await changes.next() == nil { return } } catch {}
                }
            } catch { subscriber.yield(with: .failure(error)) }
        }
        return SharedSubscription { watching.cancel() }
    }

    /// Passes on the stored value, unless a value that was set here has yet to be saved.
    private func pass(to subscriber: SharedSubscriber<Value>) async {
        guard let mark = writer.mark else { return }
        let result: Result<Value?, any Error>
        do { result = .success(try await router.get(key)) } catch StorageError.notFound {
            result = .success(nil)
        } catch { result = .failure(error) }
        // Finishing a save is a change that calls this function again.
        guard !Task.isCancelled, writer.mark == mark else { return }
        subscriber.yield(with: result)
    }

    func save(_ value: Value, context: SaveContext, continuation: SaveContinuation) {
        writer.add {
            do {
                try await router.set(value, for: key)
                continuation.resume(with: .success(()))
            } catch { continuation.resume(with: .failure(error)) }
        }
    }

    /// Runs saves one after the other.
    private final class Writer: Sendable {
        private let state = Mutex((last: Task<Void, Never>?.none, begun: 0, ended: 0))

        /// The number of saves so far; `nil` while one is waiting or running.
        var mark: Int? { state.withLock { $0.begun == $0.ended ? $0.begun : nil } }

        func add(_ save: @escaping @Sendable () async -> Void) {
            state.withLock { state in
                state.begun += 1
                state.last = Task { [last = state.last] in
                    await last?.value
                    await save()
                    self.state.withLock { $0.ended += 1 }
                }
            }
        }
    }
}

extension SharedKey {
    static func stored<Stored>(
        _ key: StorageKey<Stored>, router: StorageRouter = .shared
    ) -> Self where Self == StoreSharedKey<Stored> { StoreSharedKey(key, router: router) }
}
