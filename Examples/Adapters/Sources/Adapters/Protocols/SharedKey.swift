// The part of swift-sharing that an adapter conforms to, rewritten here; it follows
// github.com/pointfreeco/swift-sharing, release 2.8.2 of June 2026 (SharedReaderKey.swift, SharedKey.swift,
// SharedContinuations.swift). An app imports Sharing and leaves this file out.

/// Loads the value of a `@SharedReader` property and follows its changes.
protocol SharedReaderKey<Value>: Sendable {
    associatedtype Value: Sendable
    associatedtype ID: Hashable = Self
    /// Properties with equal identities share one value.
    var id: ID { get }
    func load(context: LoadContext<Value>, continuation: LoadContinuation<Value>)
    /// Passes on changes that others make, as long as the subscription exists.
    func subscribe(context: LoadContext<Value>, subscriber: SharedSubscriber<Value>) -> SharedSubscription
}

/// The same for `@Shared` properties, which are also saved.
protocol SharedKey<Value>: SharedReaderKey {
    func save(_ value: Value, context: SaveContext, continuation: SaveContinuation)
}

enum LoadContext<Value> {
    case initialValue(Value), userInitiated
}

enum SaveContext {
    case didSet, userInitiated
}

/// Takes the outcome of a load, once; `nil` stands for the property's initial value.
struct LoadContinuation<Value>: Sendable {
    let callback: @Sendable (Result<Value?, any Error>) -> Void
    func resume(returning value: Value) { callback(.success(value)) }
    func resumeReturningInitialValue() { callback(.success(nil)) }
    func resume(throwing error: any Error) { callback(.failure(error)) }
}

/// Takes the outcome of a save, once.
struct SaveContinuation: Sendable {
    let callback: @Sendable (Result<Void, any Error>) -> Void
    func resume(with result: Result<Void, any Error>) { callback(result) }
}

/// Takes changes; `nil` stands for the property's initial value.
struct SharedSubscriber<Value>: Sendable {
    let callback: @Sendable (Result<Value?, any Error>) -> Void
    func yield(with result: Result<Value?, any Error>) { callback(result) }
}

/// Ends a subscription when it is cancelled or released.
final class SharedSubscription: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
    func cancel() { end() }
}
