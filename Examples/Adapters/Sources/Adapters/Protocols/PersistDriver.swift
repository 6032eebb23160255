// The part of Hummingbird that an adapter conforms to, rewritten here; it follows
// github.com/hummingbird-project/hummingbird, release 2.26.0 of August 2026 (PersistDriver.swift). An app imports
// Hummingbird and leaves this file out. There the protocol is also a `Service`, whose default `run()` is enough.

/// Stores values between requests, such as sessions.
protocol PersistDriver: Sendable {
    func shutdown() async throws
    /// Stores a value; throws `PersistError.duplicate` if the key has one.
    func create<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws
    /// Stores or replaces a value. Without `expires`, the new value keeps the expiry of the one that it replaces.
    func set<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws
    /// The value; throws `PersistError.invalidConversion` if it is of another type.
    func get<Object: Codable & Sendable>(key: String, as: Object.Type) async throws -> Object?
    /// The value and its remaining lifetime.
    func getWithTTL<Object: Codable & Sendable>(
        key: String, as: Object.Type
    ) async throws -> (object: Object, ttl: Duration?)?
    func remove(key: String) async throws
}

extension PersistDriver {
    func shutdown() async throws {}
}

struct PersistError: Error, Equatable {
    private let name: String
    static var duplicate: PersistError { PersistError(name: "duplicate") }
    static var invalidConversion: PersistError { PersistError(name: "invalidConversion") }
}
