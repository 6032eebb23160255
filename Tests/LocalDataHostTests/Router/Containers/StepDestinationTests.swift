import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("where the steps of containers move values") struct StepDestinationTests {
    private static func container(
        _ version: Int = 2, others: [ContainerKey] = []
    ) -> ContainerDefinition {
        ContainerDefinition(
            name: "MySettings", version: version, prefix: "MyApp.", otherKeys: others,
            properties: ["username": "String", "debugMode": "Bool"])
    }

    private func filled(_ home: ContainerHome) async throws -> StorageRouter {
        let router = try home.launch()
        try await router.fill(["MyApp.MySettings.userName": "alice"])
        try await router.fill(["MyApp.MySettings.__version": 1])
        return router
    }

    @Test(
        "a misspelt destination is refused before anything is moved, with the setting it may mean",
        arguments: [true, false])
    func misspelt(_ isDeclared: Bool) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try await filled(home)
        let before = try await router.content()
        let step =
            isDeclared
            ? ContainerStep(from: 1, to: 2, [.rename("userName", to: "usernme")])
            : ContainerStep(from: 1, to: 2) { try await $0.rename("userName", to: "usernme") }
        let error = await MigrationError.of { try await migrate(Self.container(), [step], in: router) }
        #expect(error?.code == .validationFailed)
        #expect(
            error?.message.contains("'userDefaults/MyApp.MySettings.usernme'") == true
                && error?.message.contains("did you mean 'username'") == true, "\(String(describing: error))")
        #expect(try await router.content() == before)
    }

    @Test("a destination that a later step moves on or removes, or that is declared, is none that gets lost")
    func passing() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try await filled(home)
        let steps = [
            ContainerStep(from: 1, to: 2) { try await $0.rename("userName", to: "name") },
            ContainerStep(from: 2, to: 3, [.setDefault("seen", true), .rename("name", to: "username")]),
            ContainerStep(from: 3, to: 4, [.remove("seen"), .setDefault(.stored("MyApp.installed"), true)]),
        ]
        let error = await MigrationError.of { try await migrate(Self.container(4), steps, in: router) }
        #expect(error?.message.contains("'userDefaults/MyApp.installed'") == true, "\(String(describing: error))")
        try await migrate(Self.container(4, others: ["MyApp.installed"]), steps, in: router)
        #expect(
            try await router.content() == [
                "MyApp.MySettings.username": "\"alice\"", "MyApp.installed": "true", "MyApp.MySettings.__version": "4",
            ])
    }

    @Test("a value that no setting reads after the last step is in the log")
    func strays() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let (router, log) = (try await filled(home), LogRecorder())
        try await router.updateLogHandler(log)
        let step = ContainerStep(from: 1, to: 2, [.setDefault("debugMode", true)])
        try await migrate(Self.container(), [step], in: router)
        #expect(log.lines.contains { $0.contains("reads 'MyApp.MySettings.userName'") }, "\(log.lines)")
    }

    private struct MySettings: UserDefaultsContainer {
        static let version = 3
        static let prefix = "MyApp."
        static let steps = [
            ContainerStep(from: 1, to: 2) { _ in
                try await UserDefaultsMigrationManager.migrateKey(
                    from: "MyApp.MyModule.MySettings.userName",
                    to: "MyApp.MyModule.MySettings.username",
                    container: MySettings.self
                )
            },
            ContainerStep(from: 2, to: 3) { _ in
                try await UserDefaultsMigrationManager.migrateKey(
                    from: "MyApp.MyModule.MySettings.isDebugMode",
                    to: "MyApp.MyModule.MySettings.debugMode",
                    container: MySettings.self
                )
            },
        ]
        @Setting var username = "guest"
        @Setting var debugMode = false
    }

    @Test(
        "keys with the module in them are the container's own, and values under such keys are found",
        arguments: ["", "MyModule."])
    func modules(_ module: String) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["MyApp.\(module)MySettings.userName": "alice"])
        try await router.fill(["MyApp.MySettings.__version": 1])
        #expect(try await MySettings.open(in: router).username == "alice")
        #expect(
            try await router.content() == ["MyApp.MySettings.username": "\"alice\"", "MyApp.MySettings.__version": "3"])
    }

    @Test("a container that is renamed with its module in the keys is found without it")
    func renamedModule() async throws {
        struct NewSettings: UserDefaultsContainer {
            static let version = 2
            static let prefix = "MyApp."
            static let steps = [
                ContainerStep(from: 1, to: 2) { _ in
                    try await UserDefaultsMigrationManager.migrateContainer(
                        from: "MyApp.MyModule.OldSettings", to: "MyApp.MyModule.NewSettings",
                        container: NewSettings.self)
                }
            ]
            @Setting var username = "guest"
        }
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["MyApp.OldSettings.username": "alice"])
        try await router.fill(["MyApp.OldSettings.__version": 1])
        #expect(try await NewSettings.open(in: router).username == "alice")
        #expect(
            try await router.content() == [
                "MyApp.NewSettings.username": "\"alice\"", "MyApp.NewSettings.__version": "2",
            ])
    }
}
