// The part of SwiftCrossUI that an adapter conforms to, rewritten here; it follows github.com/moreSwift/swift-cross-ui
// of April 2026 (Environment/AppStorageProvider.swift). An app imports SwiftCrossUI and leaves this file out.

/// Stores the values of `@AppStorage` properties. SwiftCrossUI calls it on the main thread, and caches what it returns.
protocol AppStorageProvider: Sendable {
    func persistValue<Value: Codable>(_ value: Value, forKey key: String) throws
    /// The value; `nil` if it is absent or of another type.
    func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) -> Value?
}
