import FoundationEssentials
import LocalDataAPI
import LocalDataHost

/// Uses each adapter in the way of the library whose protocol it adopts.
@main struct Adapters {
    static func main() async throws {
        // A second router, as another process would have.
        let other = StorageRouter(configuration: try HostConfiguration.load())
        try keychain()
        try await sessions()
        try await configuration(other)
        try await appStorage()
        try await sharedKey(other)
    }

    /// OAuthKit.
    private static func keychain() throws {
        let storage = KeychainStorage(account: "com.example.app")
        _ = storage.clear()
        let isSet = try storage.set(Data("AT-20491-secret".utf8), for: "github")
        let token = try storage.get(key: "github").map { String(decoding: $0, as: UTF8.self) }
        print("keychain: set \(isSet), got \(token ?? "nothing"), keys \(storage.keys)")
        // This token stays, so that its file can be inspected.
        _ = try storage.set(Data("AT-20492-secret".utf8), for: "gitlab")
        let isDeleted = storage.delete(key: storage.accountKey("github"))
        let isDeletedAgain = storage.delete(key: storage.accountKey("github"))
        print("keychain: deleted \(isDeleted), again \(isDeletedAgain), keys \(storage.keys)")
        let guest = KeychainStorage(account: "guest")
        for key in ["a", "b"] { _ = try guest.set(Data(key.utf8), for: key) }
        print("keychain: cleared \(guest.clear()), left \(guest.keys.count) and \(storage.keys.count)")
    }

    /// Hummingbird.
    private static func sessions() async throws {
        let driver = SessionDriver()
        for key in ["ann", "ben"] { try await driver.remove(key: key) }
        try await driver.create(key: "ann", value: ["visits": 1], expires: .seconds(3600))
        do {
            try await driver.create(key: "ann", value: ["visits": 2], expires: nil)
        } catch let error as PersistError where error == .duplicate {
            print("sessions: the second create is a duplicate")
        }
        try await driver.set(key: "ann", value: ["visits": 3], expires: nil)
        let found = try await driver.getWithTTL(key: "ann", as: [String: Int].self)
        let isKept = found?.ttl.map { $0 > .seconds(3000) && $0 <= .seconds(3600) } ?? false
        print("sessions: visits \(found?.object["visits"] ?? 0), expiry kept \(isKept)")
        do { _ = try await driver.get(key: "ann", as: [Int].self) } catch let error as PersistError
            where error == .invalidConversion
        {
            print("sessions: another type is an invalid conversion")
        }
        try await driver.create(key: "ben", value: "soon gone", expires: .milliseconds(100))
        while try await driver.get(key: "ben", as: String.self) != nil { try await Task.sleep(for: .milliseconds(20)) }
        try await driver.create(key: "ben", value: "new", expires: nil)
        print("sessions: expired and created again: \(try await driver.get(key: "ben", as: String.self) ?? "nothing")")
    }

    /// swift-configuration.
    private static func configuration(_ other: StorageRouter) async throws {
        let provider = StoreProvider(domain: .appGroupUserDefaults(identifier: "group.com.example"))
        func setting<Value>(_ name: String, _: Value.Type) -> StorageKey<Value> {
            StorageKey(
                name: name, domain: provider.domain, security: .none, owner: "Server", description: "A setting.")
        }
        let (timeout, hosts) = (setting("http.timeout", Int.self), setting("http.hosts", [String].self))
        try await other.set(30, for: timeout)
        try await other.set(["a.example", "b.example"], for: hosts)
        let key = AbsoluteConfigKey(["http", "timeout"])
        let before = provider.snapshot()
        print("configuration: timeout \(try provider.value(forKey: key, type: .int).text)")
        let list = try await provider.fetchValue(forKey: AbsoluteConfigKey(["http", "hosts"]), type: .stringArray)
        let absent = try await provider.fetchValue(forKey: AbsoluteConfigKey(["http", "port"]), type: .int)
        print("configuration: hosts \(list.text), port \(absent.text)")
        let seen = try await provider.watchValue(forKey: key, type: .int) { updates in
            var seen: [String] = []
            for await update in updates {
                seen.append(try update.get().text)
                if seen.last == "60" { break }
                try await other.set(60, for: timeout)
            }
            return seen
        }
        print("configuration: watched \(seen.joined(separator: ", then "))")
        let snapshots = try await provider.watchSnapshot { updates in
            var seen: [String] = []
            for await snapshot in updates {
                seen.append(try snapshot.value(forKey: key, type: .int).text)
                if seen.last == "90" { break }
                try await other.set(90, for: timeout)
            }
            return seen
        }
        print("configuration: watched snapshots with \(snapshots.joined(separator: ", then "))")
        print("configuration: the first snapshot still has \(try before.value(forKey: key, type: .int).text)")
    }

    /// SwiftCrossUI.
    private static func appStorage() async throws {
        let storage = StoreAppStorage(domain: .userDefaults(suite: "app"))
        let launches = (storage.retrieveValue(ofType: Int.self, forKey: "launches") ?? 0) + 1
        let (names, continuation) = AsyncStream<String>.makeStream()
        storage.listenToChanges { continuation.yield($0) }
        try storage.persistValue(launches, forKey: "launches")
        print("app storage: launch \(storage.retrieveValue(ofType: Int.self, forKey: "launches") ?? 0)")
        print("app storage: as text \(storage.retrieveValue(ofType: String.self, forKey: "launches") ?? "nothing")")
        // The listener may have begun after the value was stored; it reports what is stored from then on.
        let storing = Task {
            while !Task.isCancelled {
                try storage.persistValue(Date.now, forKey: "now")
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        for await name in names where name == "now" { break }
        storing.cancel()
        print("app storage: listened")
    }

    /// swift-sharing.
    private static func sharedKey(_ other: StorageRouter) async throws {
        let theme = StorageKey<String>(
            name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance",
            description: "The colour theme.")
        try await other.remove(theme)
        let key = StoreSharedKey(theme)
        func load() async throws -> String {
            try await withCheckedThrowingContinuation { waiting in
                let continuation = LoadContinuation<String> { result in
                    waiting.resume(with: result.map { $0 ?? "light" })
                }
                key.load(context: .initialValue("light"), continuation: continuation)
            }
        }
        print("shared key: loaded \(try await load())")
        let (values, feed) = AsyncStream<String>.makeStream()
        let subscription = key.subscribe(
            context: .initialValue("light"), subscriber: SharedSubscriber { feed.yield((try? $0.get()) ?? "light") })
        try await withCheckedThrowingContinuation { waiting in
            key.save("dark", context: .userInitiated, continuation: SaveContinuation { waiting.resume(with: $0) })
        }
        print("shared key: saved, loaded \(try await load())")
        try await other.set("blue", for: theme)
        for await value in values where value == "blue" { break }
        subscription.cancel()
        print("shared key: another router's change arrived")
        print("shared key: same identity \(key.id == StoreSharedKey(theme).id)")
    }
}

extension LookupResult {
    /// The result as printable text.
    fileprivate var text: String {
        switch value?.content {
        case .int(let number): "\(number)"
        case .stringArray(let list): "\(list)"
        case let other?: "\(other)"
        case nil: "absent"
        }
    }
}
