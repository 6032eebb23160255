import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Faults of the bus and of the secret service")
struct FaultTests {
    /// The calls to try, and whether they change something.
    enum Call: CaseIterable {
        case get, exists, set, remove, names, attributes

        func make(on store: LoadedStore) throws {
            let address = StorageAddress.secret("service", "user")
            switch self {
            case .get: _ = try store.get(address)
            case .exists: _ = try store.exists(address)
            case .set: try store.set(address, to: Data("SECRET".utf8))
            case .remove: _ = try store.remove(address)
            case .names: _ = try store.names(in: address.place)
            case .attributes: _ = try store.attributes(of: address)
            }
        }
    }

    /// The error of a call that must fail, and the time that it took.
    private func failure(
        _ call: Call, _ store: LoadedStore, _ location: SourceLocation = #_sourceLocation
    ) throws -> (error: StorageError, time: Duration) {
        let start = SuspendingClock.now
        let error = try #require(throws: StorageError.self, sourceLocation: location) { try call.make(on: store) }
        #expect(!error.message.contains("SECRET"), sourceLocation: location)
        #expect(!error.hint.isEmpty || error.code == .keychainError, sourceLocation: location)
        return (error, SuspendingClock.now - start)
    }

    /// Long enough for a busy machine, and far below D-Bus's own timeout.
    private static let soon: Duration = .seconds(15)

    @Test("a missing bus is an error that says so", arguments: Call.allCases)
    func noBus(_ call: Call) throws {
        let session = try Session(.nothing)
        let store = try session.open()
        session.end()
        let (error, time) = try failure(call, store)
        #expect(error.code == .storeUnavailable && error.message.contains("session bus"), "\(error)")
        #expect(time < Self.soon)
    }

    @Test("a missing bus address is an error that says so")
    func noAddress() throws {
        let session = try Session(.nothing)
        let end = try session.store(
            "get", "keychain", "service", "user", adding: ["DBUS_SESSION_BUS_ADDRESS": ""])
        #expect(end.status == 2)
        #expect(end.errors.contains("reported: 34: there is no session bus"), "\(end.errors)")
    }

    @Test("a bus without a service is an error that says so", arguments: Call.allCases)
    func noService(_ call: Call) throws {
        let session = try Session(.nothing)
        let (error, time) = try failure(call, session.open())
        #expect(error.code == .storeUnavailable && error.message.contains("no secret service"), "\(error)")
        #expect(time < Self.soon)
    }

    @Test("a bus and a service that come later are found by the next call of the same store")
    func later() throws {
        let home = try TemporaryFolder()
        let first = try Session(.nothing, home: home)
        let store = try first.open()
        #expect(throws: StorageError.storeUnavailable) { try store.set(.secret("s", "n"), to: Data("x".utf8)) }
        first.end()
        #expect(throws: StorageError.storeUnavailable) { try store.set(.secret("s", "n"), to: Data("x".utf8)) }
        let second = try Session(.keyring(), home: home)
        try store.set(.secret("s", "n"), to: Data("x".utf8))
        second.end()
        #expect(throws: StorageError.storeUnavailable) { try store.get(.secret("s", "n")) }
        let third = try Session(.keyring(), home: home)
        #expect(try store.get(.secret("s", "n")) == Data("x".utf8))
        third.end()
    }

    @Test("a silent service takes the time that the options allow", arguments: ["mute", "silent"], Call.allCases)
    func silent(_ fault: String, _ call: Call) throws {
        let session = try Session(.fault(fault))
        let (error, time) = try failure(call, session.open(SecretOptions(timeout: 0.3)))
        #expect(error.code == .timedOut && error.message.contains("0.3 s"), "\(error)")
        #expect(time >= .milliseconds(290) && time < Self.soon, "\(time)")
    }

    @Test("a call without a secret does not wait for the session, and others wait no longer than the options allow")
    func noSession() throws {
        let session = try Session(.fault("sessionless"))
        #expect(try session.open(SecretOptions(timeout: 30)).exists(.secret("service", "user")))
        let store = try session.open(SecretOptions(timeout: 0.3))
        for call in [Call.get, .set, .get] {
            let (error, time) = try failure(call, store)
            #expect(error.code == .timedOut && time < Self.soon, "\(error), \(time)")
        }
    }

    @Test("many threads wait for a silent service no longer than a single one", .timeLimit(.minutes(1)))
    func silentThreads() throws {
        let session = try Session(.fault("mute"))
        let store = try session.open(SecretOptions(timeout: 0.5))
        let start = SuspendingClock.now
        onThreads(32) { _ in
            #expect(throws: StorageError.timedOut) { try store.get(.secret("service", "user")) }
        }
        #expect(SuspendingClock.now - start < Self.soon)
    }

    @Test("a service that ends during a read is an error at once")
    func dies() throws {
        let session = try Session(.fault("dies"))
        let (error, time) = try failure(.get, session.open())
        #expect(error.code == .storeUnavailable && error.message.contains("ended during the call"), "\(error)")
        #expect(time < Self.soon)
    }

    @Test("a service that ends during a change leaves the outcome unknown")
    func diesLate() throws {
        let session = try Session(.fault("dies-late"))
        let (error, time) = try failure(.set, session.open())
        #expect(error.code == .timedOut && error.message.contains("is unknown"), "\(error)")
        #expect(time < Self.soon)
    }

    @Test(
        "a misbehaving service causes a specific error and never ends the process",
        arguments: [
            ("refusing", .keychainError, "org.example.Error.Refused"), ("forbidding", .permissionDenied, "refuses"),
            ("nonsense", .corrupt, "cannot decrypt"), ("mistyped", .keychainError, "type"),
        ] as [(String, StorageError.Code, String)])
    func misbehaves(_ fault: String, _ code: StorageError.Code, _ text: String) throws {
        let session = try Session(.fault(fault))
        let (error, _) = try failure(.get, session.open())
        #expect(error.code == code && error.message.contains(text), "\(error)")
    }

    @Test("if a service forgets the session, the plugin opens another, and callers notice nothing")
    func forgets() throws {
        let session = try Session(.fault("forgetful"))
        let store = try session.open()
        for _ in 0..<3 { #expect(try store.get(.secret("service", "user")) == Data("value".utf8)) }
    }

    @Test("an item that a busy service overlooks once is not absent", arguments: ["get", "exists"])
    func overlooks(call: String) throws {
        let session = try Session(.fault("overlooking"))
        let (store, address) = (try session.open(), StorageAddress.secret("service", "user"))
        if call == "get" {
            #expect(try store.get(address) == Data("value".utf8))
        } else {
            #expect(try store.exists(address))
        }
    }

    @Test(
        "GLib's warnings and settings do not affect the process or its standard error",
        arguments: ["nonsense", "mistyped", "silent"])
    func debugging(_ fault: String) throws {
        let session = try Session(.fault(fault))
        let end = try session.store(
            "get", "keychain", "service", "user", options: SecretOptions(timeout: 0.3),
            adding: ["G_DEBUG": "fatal-warnings,fatal-criticals", "G_MESSAGES_DEBUG": "all"])
        #expect(end.status == 2)
        #expect(end.errors.hasPrefix("reported: ") && end.errors.split(separator: "\n").count == 1, "\(end.errors)")
    }
}
