import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

// More samples of the guide to containers: a type that was renamed, and the keys of containers in catalogs.

struct ReaderSettings: UserDefaultsContainer {
    static let version = 2
    static let prefix = "MyApp."
    static let steps = [
        ContainerStep(from: 1, to: 2, [.movePrefix("MyApp.OldSettings.", to: "MyApp.ReaderSettings.")])
    ]

    @Setting(description: "The colours that the user chose.") var theme = "light"
}

final class PlayerSettings: UserDefaultsContainer {
    @Setting var volume = 5

    init() {}
}

@Test("a renamed type keeps its settings")
func renamedTypeKeepsItsSettings() async throws {
    let first = ContainerDefinition(name: "OldSettings", prefix: "MyApp.", properties: ["theme": "String"])
    let after = try await ContainerUnderTest(ReaderSettings.self).migrate(from: first, ["theme": "dark"])
    #expect(after == ["MyApp.ReaderSettings.theme": "dark"])
}

func openKeeping(_ choice: ContainerVersionChoice, in router: StorageRouter) async throws -> ReaderSettings {
    try await UserDefaultsMigrationManager.keep(choice, of: ReaderSettings.self, in: router)
    return try await ReaderSettings.open(in: router)
}

func manifest() throws -> Data {
    try CatalogManifest(ReaderSettings.catalog).json()
}

@Suite("More samples of the guide to containers")
struct ContainerReleaseSamples {
    @Test("what the release before has stored is found by its version alone")
    func version() async throws {
        let after = try await ContainerUnderTest(ReaderSettings.self).migrate(from: 1, ["theme": "dark"])
        #expect(after == ["MyApp.ReaderSettings.theme": "dark"])
    }

    @Test("a choice without two versions is refused")
    func choice() async throws {
        let router = try await StorageRouter.inMemory()
        _ = try await ReaderSettings.open(in: router)
        await #expect(throws: MigrationError.self) { try await openKeeping(.former, in: router) }
    }

    @Test("a manifest describes the settings and the version")
    func catalog() throws {
        let text = String(decoding: try manifest(), as: UTF8.self)
        #expect(text.contains("The colours that the user chose.") && text.contains("MyApp.ReaderSettings.__version"))
    }

    @Test("a class is a container")
    func classes() async throws {
        let router = try await StorageRouter.inMemory()
        let settings = try await PlayerSettings.open(in: router)
        settings.volume = 7
        try await settings.save()
        #expect(try await PlayerSettings.open(in: router).volume == 7)
    }
}
