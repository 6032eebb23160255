// The part of swift-configuration that an adapter conforms to, rewritten here; it follows
// github.com/apple/swift-configuration, release 1.2.0 and later ones up to May 2026 (ConfigProvider.swift). An app
// imports Configuration and leaves this file out.

/// A source of configuration: values to read now, to fetch, and to watch.
protocol ConfigProvider: Sendable {
    var providerName: String { get }
    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult
    func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult
    /// The updates begin with the current value.
    func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
    ) async throws -> Return
    /// All values at one point in time.
    func snapshot() -> any ConfigSnapshot
    /// The updates begin with the current snapshot.
    func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return
}

protocol ConfigSnapshot: Sendable {
    var providerName: String { get }
    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult
}

/// A path of names. The original also has a context, which most providers ignore.
struct AbsoluteConfigKey: Hashable, Sendable {
    var components: [String]
    init(_ components: [String]) { self.components = components }
}

struct LookupResult: Hashable, Sendable {
    var encodedKey: String
    var value: ConfigValue?
}

struct ConfigValue: Hashable, Sendable {
    var content: ConfigContent
    var isSecret: Bool

    init(_ content: ConfigContent, isSecret: Bool) {
        self.content = content
        self.isSecret = isSecret
    }
}

enum ConfigType: String, Sendable {
    case string, int, double, bool, bytes, stringArray, intArray, doubleArray, boolArray, byteChunkArray
}

enum ConfigContent: Hashable, Sendable {
    case string(String), int(Int), double(Double), bool(Bool), bytes([UInt8])
    case stringArray([String]), intArray([Int]), doubleArray([Double]), boolArray([Bool]), byteChunkArray([[UInt8]])
}

/// A sequence of updates, whatever produces them.
struct ConfigUpdatesAsyncSequence<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        var updates: any AsyncIteratorProtocol<Element, Failure>

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
            try await updates.next(isolation: actor)
        }
    }

    private let updates: any AsyncSequence<Element, Failure> & Sendable
    init(_ updates: some AsyncSequence<Element, Failure> & Sendable) { self.updates = updates }
    func makeAsyncIterator() -> Iterator { Iterator(updates: updates.makeAsyncIterator()) }
}
