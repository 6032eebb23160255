import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

// The samples of the guide to containers. Each release of an app has its own types of the same names, so those of
// earlier releases are in name spaces here.

struct MySettings: UserDefaultsContainer {
    static let version = 3
    static let prefix = "MyApp."
    static let steps = [
        ContainerStep(from: 1, to: 2) { _ in
            try await UserDefaultsMigrationManager.migrateKey(
                from: "MyApp.MySettings.userName", to: "MyApp.MySettings.username", container: MySettings.self)
        },
        ContainerStep(from: 2, to: 3) { _ in
            try await UserDefaultsMigrationManager.migrateKey(
                from: "MyApp.MySettings.isDebugMode", to: "MyApp.MySettings.debugMode", container: MySettings.self)
            // A new setting has its declared value, so maxRetries needs no change.
        },
    ]

    @Setting var username: String = "guest"  // Renamed from userName (1 -> 2)
    @Setting var theme: String = "light"  // Unchanged since version 1
    @Setting var debugMode: Bool = false  // Renamed from isDebugMode (2 -> 3)
    @Setting var maxRetries: Int = 5  // Added in version 3
}

private enum Detected {
    struct MySettings: UserDefaultsContainer {
        static let version = 2
        static let prefix = "MyApp."
        static let steps = [
            ContainerStep(
                from: 1, to: 2, by: MySettings.self,
                previous: ContainerDefinition(
                    name: "MySettings", prefix: "MyApp.", properties: ["userName": "String", "sound": "Bool"]))
        ]

        @Setting var username: String = "guest"
        @Setting var maxRetries: Int = 5
    }
}

extension Detected.MySettings: ContainerMigration {
    static func migrate(
        from previous: ContainerDefinition,
        to current: ContainerDefinition,
        using store: ContainerStore
    ) async throws {
        // Apply transformation: previousContainer -> currentContainer
        let transformations = detectChanges(from: previous, to: current)

        for transformation in transformations {
            switch transformation {
            case .propertyRenamed(from: let oldName, to: let newName):
                // Move data from old key to new key
                try await migrateKey(from: previous.keyFor(oldName), to: current.keyFor(newName), store: store)

            case .propertyRemoved(let name):
                // Clean up obsolete data
                try await store.remove(.stored(previous.keyFor(name)))

            case .propertyAdded(let name):
                // Store the default value of the new property
                try await store.setDefault(current.defaultValueFor(name), for: .stored(current.keyFor(name)))
            }
        }
    }
}

private enum Years {
    enum One {
        struct AppSettings: UserDefaultsContainer {
            static let version = 1  // Code version
            static let prefix = "MyApp."
            @Setting var userName: String = "guest"
        }
    }

    enum Two {
        struct AppSettings: UserDefaultsContainer {
            static let version = 2
            static let prefix = "MyApp."
            static let steps = [ContainerStep(from: 1, to: 2, [.rename("userName", to: "username")])]
            @Setting var username: String = "guest"  // Renamed from userName
        }
    }

    enum Three {
        struct AppSettings: UserDefaultsContainer {
            static let version = 3
            static let prefix = "MyApp."
            static let steps = [
                ContainerStep(from: 1, to: 2, [.rename("userName", to: "username")]),
                ContainerStep(from: 2, to: 3, [.setDefault("debugMode", false)]),
            ]
            @Setting var username: String = "guest"
            @Setting var debugMode: Bool = false  // New property
        }
    }
}

private enum Prefixes {
    struct AppSettings: UserDefaultsContainer {
        static let version = 3
        static let prefix = "MyApp."  // Changed from "com.company.MyApp." in version 3
        static let versionKey = ContainerVersionKey("MyApp.__version", formerly: ["com.company.MyApp.__version"])
        static let baseline = 2
        static let steps = [
            ContainerStep(from: 2, to: 3) { _ in
                try await UserDefaultsMigrationManager.migrateVersionKey(
                    for: AppSettings.self, from: "com.company.MyApp.__version", to: "MyApp.__version")
                try await UserDefaultsMigrationManager.migratePrefix(
                    from: "com.company.MyApp.", to: "MyApp.", container: AppSettings.self)
            }
        ]
        @Setting var username: String = "guest"
    }
}

private enum Keys {
    struct MySettings: UserDefaultsContainer {
        static let prefix = "MyApp."

        @Setting var username: String = "anonymous"
        // Derived key: "MyApp.MySettings.username"

        @Setting(key: "user_name") var account: String = "anonymous"
        // Explicit key: "MyApp.user_name"
    }
}

struct CacheSettings: UserDefaultsContainer {
    static let version = 2
    static let migratesAfter: [any UserDefaultsContainer.Type] = [EverySetting.self]
    static let steps = [ContainerStep(from: 1, to: 2, [.rename("size", to: "limit")])]

    @Setting var limit = 10
}

struct EverySetting: UserDefaultsContainer {
    static let version = 2
    static let steps = [
        ContainerStep(from: 1, to: 2) { store in
            try await store.move("cacheSize", to: CacheSettings.self, as: "size", version: 1)
        }
    ]

    @Setting var theme = "light"
}

func greet(in router: StorageRouter) async throws -> String {
    let settings = try await MySettings.open(in: router)
    settings.theme = "dark"
    try await settings.$theme.save()
    return "Hello, \(settings.username)"
}

@Test("alice keeps her settings")
func aliceKeepsHerSettings() async throws {
    let subject = ContainerUnderTest(MySettings.self)
    let after = try await subject.migrate(from: 1, ["userName": "alice", "theme": "dark"])
    #expect(after == ["MyApp.MySettings.username": "alice", "MyApp.MySettings.theme": "dark"])
}

@Suite("The samples of the guide to containers")
struct ContainerSamples {
    @Test("settings are opened, set and saved")
    func opening() async throws {
        let router = try await StorageRouter.inMemory()
        #expect(try await greet(in: router) == "Hello, guest")
        #expect(try await MySettings.open(in: router).theme == "dark")
    }

    @Test("users of every version reach the current one")
    func chain() async throws {
        let subject = ContainerUnderTest(MySettings.self)
        let after = try await subject.migrate(from: 1, ["userName": "alice", "theme": "dark", "isDebugMode": true])
        #expect(
            after == [
                "MyApp.MySettings.username": "alice", "MyApp.MySettings.theme": "dark",
                "MyApp.MySettings.debugMode": true,
            ])
        let settings = try await subject.open(from: 2, ["username": "bob", "isDebugMode": true])
        #expect(settings.username == "bob" && settings.debugMode && settings.maxRetries == 5)
    }

    @Test("changes are found, and applied")
    func detection() async throws {
        let after = try await ContainerUnderTest(Detected.MySettings.self)
            .migrate(from: 1, ["userName": "alice", "sound": true])
        #expect(after == ["MyApp.MySettings.username": "alice", "MyApp.MySettings.maxRetries": 5])
    }

    @Test("the years of an app follow each other")
    func years() async throws {
        #expect(try await ContainerUnderTest(Years.One.AppSettings.self).migrate(from: nil, [:]) == [:])
        let two = try await ContainerUnderTest(Years.Two.AppSettings.self).migrate(from: 1, ["userName": "alice"])
        #expect(two == ["MyApp.AppSettings.username": "alice"])
        let three = try await ContainerUnderTest(Years.Three.AppSettings.self).migrate(from: 2, two)
        #expect(three == ["MyApp.AppSettings.username": "alice", "MyApp.AppSettings.debugMode": false])
    }

    @Test("a prefix changes, and the version with it")
    func prefixes() async throws {
        let old = "com.company.MyApp."
        let router = try await StorageRouter.inMemory()
        func key(_ name: String) -> StorageKey<AnyCodable> {
            StorageKey(name: name, domain: .userDefaults(), security: .none, owner: "samples", description: "a sample")
        }
        try await router.set(2, for: key("\(old)__version"))
        try await router.set("alice", for: key("\(old)AppSettings.username"))
        #expect(try await Prefixes.AppSettings.open(in: router).username == "alice")
        #expect(
            try await router.names(in: .userDefaults(), prefix: "") == [
                "MyApp.AppSettings.username", "MyApp.__version",
            ])
    }

    @Test("the four scenarios move modules, containers, prefixes and many settings")
    func scenarios() async throws {
        let after = try await ContainerUnderTest(Scenarios.MySettings.self).migrate(
            from: 1,
            [
                "OldNetworkKit.MySettings.username": "alice", "NewNetworkKit.OldSettings.theme": "dark",
                "com.oldcompany.NewNetworkKit.MySettings.oldDebugFlag": true, "oldUserName": "al",
            ])
        #expect(
            after == [
                "NewNetworkKit.MySettings.username": "alice", "NewNetworkKit.MySettings.theme": "dark",
                "NewNetworkKit.MySettings.isDebugMode": true, "NewNetworkKit.MySettings.nickname": "al",
            ])
    }

    @Test("keys are derived, or given")
    func keys() {
        #expect(Keys.MySettings.definition.properties.map(\.key) == ["MyApp.MySettings.username", "MyApp.user_name"])
    }

    @Test("a version can be under any of the keys that earlier programs used")
    func versionKeys() async throws {
        let router = try await StorageRouter.inMemory()
        for (version, key) in [
            (2, ContainerVersionKey.shared), (3, .prefixed("MyApp.")), (4, .containerVersion("MyApp.")),
            (5, .typed("SettingsContainer")), (6, .container("SettingsContainer")),
        ] {
            #expect(ContainerVersionKey.isReserved(key.name))
            let stored = StorageKey<Int>(
                name: key.name, domain: .userDefaults(), security: .none, owner: "samples", description: "a version")
            try await router.set(version, for: stored)
        }
        #expect(
            try await router.names(in: .userDefaults(), prefix: "") == [
                "MyApp.__container_version", "MyApp.__version", "SettingsContainer.__version",
                "__SettingsContainer_version", "__version",
            ])
    }

    @Test("a manifest says what each step changes")
    func manifest() throws {
        let text = String(decoding: try ContainerManifest(of: [Years.Three.AppSettings.self]).encoded(), as: UTF8.self)
        #expect(text.contains("\"from\" : \"userName\"") && text.contains("\"to\" : \"username\""))
        #expect(text.contains("\"version\" : 3"))
    }

    @Test("a container is split, and the new one's own steps follow")
    func split() async throws {
        let settings = try await ContainerUnderTest(CacheSettings.self)
            .open(from: nil, [:], besides: ["userDefaults/EverySetting.cacheSize": 99])
        #expect(settings.limit == 99)
    }

    @Test("stores of apps, groups and users have versions of their own")
    func isolation() async throws {
        let router = try await StorageRouter.inMemory()
        for store in [
            StorageDomain.userDefaults(), .appGroupUserDefaults(identifier: "group.mycompany.shared"),
            .userDefaults(suite: "myapp.user123"), .userDefaults(suite: "myapp.user456"),
        ] {
            _ = try await MySettings.open(in: router, store: store)
            #expect(
                try await UserDefaultsMigrationManager.getStoredVersion(for: MySettings.self, in: router, store: store)
                    == 3)
        }
    }
}
