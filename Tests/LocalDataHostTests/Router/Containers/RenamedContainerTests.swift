import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

/// The third release of an app whose prefix was 'com.company.MyApp.' before; each one says so in another way.
private enum Shorter {
    struct AppSettings: UserDefaultsContainer {
        static let version = 3
        static let prefix = "MyApp."
        static let steps = [
            ContainerStep(from: 1, to: 2) { _ in },
            ContainerStep(from: 2, to: 3) { _ in
                try await UserDefaultsMigrationManager.migrateVersionKey(
                    for: AppSettings.self, from: "com.company.MyApp.__version", to: "MyApp.__version")
                try await UserDefaultsMigrationManager.migratePrefix(
                    from: "com.company.MyApp.", to: "MyApp.", container: AppSettings.self)
            },
        ]
        @Setting var username = "guest"
    }

    enum Declared {
        struct AppSettings: UserDefaultsContainer {
            static let version = 2
            static let prefix = "MyApp."
            static let steps = [ContainerStep(from: 1, to: 2, [.movePrefix("com.company.MyApp.", to: "MyApp.")])]
            @Setting var username = "guest"
        }
    }

    enum Programmed {
        struct AppSettings: UserDefaultsContainer {
            static let version = 2
            static let prefix = "MyApp."
            static let steps = [
                ContainerStep(from: 1, to: 2) { try await $0.movePrefix("com.company.MyApp.", to: "MyApp.") }
            ]
            @Setting var username = "guest"
        }
    }
}

/// Releases with the first prefix.
private enum Longer {
    struct AppSettings: UserDefaultsContainer {
        static let prefix = "com.company.MyApp."
        @Setting var username = "guest"
    }
}

private struct OldSettings: UserDefaultsContainer {
    static let prefix = "MyApp."
    @Setting var theme = "light"
}

private enum Renamed {
    struct NewSettings: UserDefaultsContainer {
        static let prefix = "MyApp."
        static let version = 2
        static let steps = [
            ContainerStep(from: 1, to: 2) { _ in
                try await UserDefaultsMigrationManager.migrateContainer(
                    from: "MyApp.OldSettings", to: "MyApp.NewSettings", container: NewSettings.self)
            }
        ]
        @Setting var theme = "light"
    }

    enum Undeclared {
        struct NewSettings: UserDefaultsContainer {
            static let prefix = "MyApp."
            @Setting var theme = "light"
        }
    }

    enum Named {
        struct NewSettings: UserDefaultsContainer {
            static let prefix = "MyApp."
            static let formerNames = ["OldSettings"]
            @Setting var theme = "light"
        }
    }

    enum Declared {
        struct NewSettings: UserDefaultsContainer {
            static let prefix = "MyApp."
            static let version = 2
            static let steps = [
                ContainerStep(from: 1, to: 2, [.movePrefix("MyApp.OldSettings.", to: "MyApp.NewSettings.")])
            ]
            @Setting var theme = "light"
        }
    }
}

@Suite("renamed containers") struct RenamedContainerTests {
    private let old = "com.company.MyApp."

    @Test("a prefix that changes with a version key of the old prefix is migrated, as the step names that key")
    func namedVersionKey() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["\(old)__version": 2])
        try await router.fill(["\(old)AppSettings.username": "alice"])
        #expect(try await Shorter.AppSettings.open(in: router).username == "alice")
        #expect(
            try await router.content() == [
                "MyApp.AppSettings.username": "\"alice\"", "MyApp.AppSettings.__version": "3",
            ])
        try await UserDefaultsMigrationManager.rollback(Shorter.AppSettings.self, in: router)
        #expect(try await router.content() == ["\(old)AppSettings.username": "\"alice\"", "\(old)__version": "2"])
        #expect(try await Shorter.AppSettings.open(in: home.launch()).username == "alice")
    }

    @Test("a prefix that a step moves takes the container's own version along", arguments: [true, false])
    func movedPrefix(_ isDeclared: Bool) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let first = try await Longer.AppSettings.open(in: home.launch())
        first.username = "alice"
        try await first.save()
        let router = try home.launch()
        let name =
            isDeclared
            ? try await Shorter.Declared.AppSettings.open(in: router).username
            : try await Shorter.Programmed.AppSettings.open(in: router).username
        #expect(name == "alice")
        #expect(
            try await router.content() == [
                "MyApp.AppSettings.username": "\"alice\"", "MyApp.AppSettings.__version": "2",
            ])
    }

    @Test("a container that a step renames takes its version along")
    func movedContainer() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let first = try await OldSettings.open(in: home.launch())
        first.theme = "dark"
        try await first.save()
        let router = try home.launch()
        #expect(try await Renamed.NewSettings.open(in: router).theme == "dark")
        #expect(
            try await router.content() == ["MyApp.NewSettings.theme": "\"dark\"", "MyApp.NewSettings.__version": "2"])
    }

    @Test("a prefix that changes twice is found from every release", arguments: ["A.", "B."])
    func twice(_ prefix: String) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["\(prefix)S.name": "alice"])
        try await router.fill(["\(prefix)S.__version": prefix == "A." ? 1 : 2])
        let steps = [
            ContainerStep(from: 1, to: 2, [.movePrefix("A.", to: "B.")]),
            ContainerStep(from: 2, to: 3) { try await $0.movePrefix("B.", to: "C.") },
        ]
        let container = ContainerDefinition(name: "S", version: 3, prefix: "C.", properties: ["name": "String"])
        #expect(try await migrate(container, steps, in: router).steps == (prefix == "A." ? [2, 3] : [3]))
        #expect(try await router.content() == ["C.S.name": "\"alice\"", "C.S.__version": "3"])
    }

    @Test("a renamed type that nothing declares is refused with the step to add, and that step migrates it")
    func undeclared() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let first = try await OldSettings.open(in: home.launch())
        first.theme = "dark"
        try await first.save()
        let router = try home.launch()
        let before = try await router.content()
        let error = await MigrationError.of { try await Renamed.Undeclared.NewSettings.open(in: router) }
        #expect(error?.code == .validationFailed)
        #expect(
            error?.message.contains(
                "ContainerStep(from: 1, to: 2, [.movePrefix(\"MyApp.OldSettings.\", to: \"MyApp.NewSettings.\")])")
                == true,
            "\(String(describing: error))")
        let named = await MigrationError.of { try await Renamed.Named.NewSettings.open(in: home.launch()) }
        #expect(
            named?.message.contains(".movePrefix(\"MyApp.OldSettings.\", to: \"MyApp.NewSettings.\")") == true,
            "\(String(describing: named))")
        #expect(try await router.content() == before, "an error changes nothing")
        #expect(try await Renamed.Declared.NewSettings.open(in: home.launch()).theme == "dark")
    }

    @Test("a changed prefix that nothing declares is refused")
    func undeclaredPrefix() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["Old.S.name": "alice"])
        try await router.fill(["Old.S.__version": 1])
        let container = ContainerDefinition(name: "S", prefix: "New.", properties: ["name": "String"])
        let error = await MigrationError.of { try await migrate(container, [], in: router) }
        #expect(
            error?.message.contains(".movePrefix(\"Old.S.\", to: \"New.S.\")") == true, "\(String(describing: error))")
    }

    @Test("a version key that changes is found if it was the default, and else is refused with the line to add")
    func changedVersionKey() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["P.S.name": "alice"])
        try await router.fill(["P.S.__version": 2])
        func container(_ key: ContainerVersionKey?, _ prefix: String = "P.") -> ContainerDefinition {
            ContainerDefinition(
                name: "S", version: 2, prefix: prefix, versionKey: key, properties: ["name": "String"])
        }
        let fails = ContainerStep(from: 1, to: 2) { _ in throw StorageError(.unsupported, "the data is of version 2") }
        try await migrate(container(.prefixed("P.")), [fails], in: router)
        #expect(try await router.content() == ["P.S.name": "\"alice\"", "P.__version": "2"])
        let error = await MigrationError.of { try await migrate(container(nil), [fails], in: home.launch()) }
        let line = "static let versionKey = ContainerVersionKey(\"P.S.__version\", formerly: [\"P.__version\"])"
        #expect(error?.message.contains(line) == true, "\(String(describing: error))")
        try await migrate(
            container(ContainerVersionKey("P.S.__version", formerly: ["P.__version"])), [fails], in: home.launch())
        #expect(try await router.content() == ["P.S.name": "\"alice\"", "P.S.__version": "2"])
    }

    @Test("a new container beside others is new, whether these are open or have settings of other names")
    func beside() async throws {
        func container(_ others: [ContainerKey] = []) -> ContainerDefinition {
            ContainerDefinition(
                name: "Fresh", prefix: "P.", otherKeys: others, properties: ["name": "String", "limit": "Int"])
        }
        let other = ContainerDefinition(name: "Other", prefix: "P.")
        for (copy, others, isNew) in [
            (container(), [], false), (container(), [other], true),
            (container([.stored("P.Other.__version")]), [], true),
        ] {
            let home = try ContainerHome()
            defer { home.remove() }
            let router = try home.launch()
            try await router.fill([
                "P.Cache.size": 1, "P.Cache.__version": 1, "P.Other.name": 1, "P.Other.__version": 1,
            ])
            let error = await MigrationError.of { try await migrate(copy, [], in: router, others: others) }
            #expect((error == nil) == isNew, "\(String(describing: error))")
        }
    }

    @Test("a call that can never work is reported, also if there is nothing to migrate")
    func impossible() async throws {
        struct Mistaken: UserDefaultsContainer {
            static let version = 2
            static let steps = [
                ContainerStep(from: 1, to: 2) { _ in
                    try await UserDefaultsMigrationManager.migrateVersionKey(
                        for: Mistaken.self, from: "the version", to: "Mistaken.__version")
                }
            ]
            @Setting var name = ""
        }
        let home = try ContainerHome()
        defer { home.remove() }
        let error = await MigrationError.of { try await Mistaken.open(in: home.launch()) }
        #expect(error?.message.contains("formerly: [\"the version\"]") == true, "\(String(describing: error))")
    }
}
