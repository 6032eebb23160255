import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

@Suite("errors across the boundary") struct ErrorCrossingTests {
    /// Every existing code, and numbers of a later version or without any meaning.
    static let codes: [Int32] = Array(1...15) + Array(32...50) + [16, 62, 9999, .max]

    private func router(_ domains: String = "userDefaults: \"faulty\"", stores: String = "") async throws
        -> StorageRouter
    {
        let router = StorageRouter(
            configuration: try HostConfiguration(
                text: "{ app: { id: \"\" }, domains: { \(domains) }, stores: { \(stores) }, log: { level: \"off\" } }"))
        try await router.registerPlugin(
            named: "Faulty", Plugin.export("Faulty", version: "1.0.0", .storage(FaultyStore.self)))
        return router
    }

    private func key(_ name: String) -> StorageKey<String> {
        StorageKey(name: name, domain: .userDefaults(), security: .none, owner: "tests", description: "a test key")
    }

    @Test("an error keeps its code, message and hint, whichever call it ends", arguments: codes)
    func everyCode(_ number: Int32) async throws {
        let router = try await router()
        let key = key("code \(number)")
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await router.get(key) }, { try await router.set("x", for: key) },
            { try await router.remove(key) }, { _ = try await router.exists(key) },
            { _ = try await router.readPieces(for: .key(key)) { _ in true } },
            { try await router.writePieces(for: .key(key)) { _ in 0 } },
        ]
        for call in calls {
            let error = try await #require(throws: StorageError.self) { try await call() }
            #expect(error.code.rawValue == number)
            // If a value is corrupt, the host also names it.
            let names =
                error.code == .corrupt && error.message.hasPrefix("'userDefaults/code \(number)' in store 'faulty'")
            #expect(
                names
                    ? error.message.hasSuffix(" is corrupt: what failed: “\(number)”")
                    : error.message == "what failed: “\(number)”")
            #expect(error.hint == "what to do: \(number) ✓")
        }
    }

    @Test("a number that is no code is unknown, and the error names it", arguments: [0, -1, -3, .min] as [Int32])
    func noCode(_ number: Int32) async throws {
        let key = key("code \(number)")
        let router = try await router()
        let error = try await #require(throws: StorageError.self) { try await router.get(key) }
        #expect(error.code == .unknown && error.message.contains("\(number)"))
        #expect(error.hint == "report this to the plugin's author")
    }

    @Test(
        "an error thrown while a store is opened keeps its code and hint too", arguments: [34, 41, 45, 9999] as [Int32])
    func opening(_ number: Int32) async throws {
        let router = try await router(
            "userDefaults: \"broken\"",
            stores: "broken: { component: \"faulty\", options: { fail: \"code \(number)\" } }")
        let error = try await #require(throws: StorageError.self) { try await router.get(key("any")) }
        #expect(error.code.rawValue == number)
        #expect(error.message == "store 'broken' cannot be opened: what failed: “\(number)”")
        #expect(error.hint == "what to do: \(number) ✓")
    }

    @Test("any other error becomes unknown with its description, and one without a message gets its code's")
    func otherErrors() async throws {
        let router = try await router()
        let odd = try await #require(throws: StorageError.self) { try await router.get(key("other")) }
        #expect(odd.code == .unknown && odd.message == "an odd thing happened" && odd.hint.isEmpty)
        let bare = try await #require(throws: StorageError.self) { try await router.get(key("bare")) }
        #expect(bare.code == .busy && bare.message == StorageError.Code.busy.summary)
    }

    @Test("an error from a store is caught by its pattern")
    func patterns() async throws {
        let router = try await router()
        do {
            _ = try await router.get(key("missing"))
            Issue.record("nothing was thrown")
        } catch StorageError.notFound {
        } catch { Issue.record("not caught as notFound: \(error)") }
        do {
            _ = try await router.get(key("code 46"))
            Issue.record("nothing was thrown")
        } catch StorageError.noSpace {
        } catch { Issue.record("not caught as noSpace: \(error)") }
    }

    /// The error of a host's own source.
    private struct SourceBroke: Error {}

    @Test(
        "an error of the host's own source passes through, and the old value stays",
        arguments: ["plain", "wraps"])
    func ownErrors(_ name: String) throws {
        let table = Plugin.export("Faulty", version: "1.0.0", .storage(FaultyStore.self))
        let image = try PluginImage(linked: table, name: "Faulty")
        let store = try image.openStore(
            "faulty", options: try #require(ResolvedOptions(["fail": .string("")])),
            host: HostTable.shared(for: SilentLog()))
        try store.with(name) { handle in
            try store.set(handle, to: Data("old".utf8), attributes: nil)
            var pieces = 0
            #expect(throws: SourceBroke.self) {
                try store.write(handle, attributes: nil) { buffer in
                    pieces += 1
                    if pieces == 3 { throw SourceBroke() }
                    buffer.initializeMemory(as: UInt8.self, repeating: 7)
                    return buffer.count
                }
            }
            #expect(pieces == 3)
            #expect(try store.get(handle) == Data("old".utf8))
        }
    }

    @Test("a source that throws a storage error ends the router's call with it")
    func ownStorageErrors() async throws {
        let router = try await router()
        let key = AnyStorageKey(key("streamed"))
        try await router.setData(Data("old".utf8), for: key)
        let error = try await #require(throws: StorageError.self) {
            try await router.writePieces(for: key) { _ in throw StorageError(.permissionDenied, "mine", hint: "ask") }
        }
        #expect(error.code == .permissionDenied && error.message == "mine" && error.hint == "ask")
        let other = try await #require(throws: StorageError.self) {
            try await router.writePieces(for: key) { _ in throw SourceBroke() }
        }
        #expect(other.code == .cancelled && other.message.contains("SourceBroke"))
        #expect(try await router.data(for: key) == Data("old".utf8))
    }

    @Test(
        "a source that claims an impossible number of bytes fails the write, and the old value stays",
        arguments: [-1, Int.max, 256 * 1024 + 1], ["faulty", "memory"])
    func lyingSource(_ count: Int, _ component: String) async throws {
        let router = try await router("userDefaults: \"\(component)\"")
        let key = AnyStorageKey(key("streamed"))
        try await router.setData(Data("old".utf8), for: key)
        let error = try await #require(throws: StorageError.self) {
            try await router.writePieces(for: key) { _ in count }
        }
        #expect(error.message.contains("\(count) bytes"))
        #expect(try await router.data(for: key) == Data("old".utf8))
    }
}
