import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

/// Releases of a container that an app's user goes back and forth between.
private enum Alternating {
    enum One {
        struct Profile: UserDefaultsContainer {
            static let prefix = "Old."
            @Setting var name = "guest"
        }
    }

    enum Two {
        struct Profile: UserDefaultsContainer {
            static let version = 2
            static let prefix = "New."
            static let steps = [ContainerStep(from: 1, to: 2, [.movePrefix("Old.", to: "New.")])]
            @Setting var name = "guest"
        }
    }

    enum Three {
        struct Profile: UserDefaultsContainer {
            static let version = 3
            static let prefix = "New."
            static let steps =
                Two.Profile.steps + [
                    ContainerStep(from: 2, to: 3) { store in
                        guard let name: String = try await store.get("name") else { return }
                        try await store.set("\(name)!", for: "name")
                    }
                ]
            @Setting var name = "guest"
        }
    }
}

@Suite("an earlier release on migrated containers") struct AlternatingReleaseTests {
    /// The first release stores a name, and the second one migrates it.
    private func migrated(_ home: ContainerHome) async throws {
        let first = try await Alternating.One.Profile.open(in: home.launch())
        first.name = "alice"
        try await first.save()
        #expect(try await Alternating.Two.Profile.open(in: home.launch()).name == "alice")
    }

    @Test("a release that was merely opened leaves a version without data, which is no second version")
    func looked() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        try await migrated(home)
        #expect(try await Alternating.One.Profile.open(in: home.launch()).name == "guest")
        let router = try home.launch()
        #expect(try await router.content()["Old.Profile.__version"] == "1")
        #expect(try await Alternating.Two.Profile.open(in: router).name == "alice")
        #expect(try await router.content() == ["New.Profile.name": "\"alice\"", "New.Profile.__version": "2"])
        _ = try await Alternating.One.Profile.open(in: home.launch())
        #expect(try await Alternating.Three.Profile.open(in: home.launch()).name == "alice!")
        #expect(try await router.content() == ["New.Profile.name": "\"alice!\"", "New.Profile.__version": "3"])
    }

    @Test("a version without data is in no rollback's way")
    func undone() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        try await migrated(home)
        _ = try await Alternating.One.Profile.open(in: home.launch())
        try await UserDefaultsMigrationManager.rollback(Alternating.Two.Profile.self, in: home.launch())
        #expect(try await Alternating.One.Profile.open(in: home.launch()).name == "alice")
    }

    @Test("settings that an earlier release has stored since are a choice for the user", arguments: [true, false])
    func stored(_ isFormer: Bool) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        try await migrated(home)
        let again = try await Alternating.One.Profile.open(in: home.launch())
        again.name = "bob"
        try await again.save()
        let router = try home.launch()
        let error = await MigrationError.of { try await Alternating.Two.Profile.open(in: router) }
        #expect(
            error?.message.contains("has two versions: 2 in") == true
                && error?.message.contains("UserDefaultsMigrationManager.keep(.current, of: Profile.self)") == true,
            "\(String(describing: error))")
        try await UserDefaultsMigrationManager.keep(
            isFormer ? .former : .current, of: Alternating.Two.Profile.self, in: router)
        #expect(try await Alternating.Two.Profile.open(in: home.launch()).name == (isFormer ? "bob" : "alice"))
        let none = await MigrationError.of {
            try await UserDefaultsMigrationManager.keep(.current, of: Alternating.Two.Profile.self, in: router)
        }
        #expect(none?.message.contains("does not have two versions") == true, "\(String(describing: none))")
    }

    @Test("of several earlier versions, the one with data counts")
    func several() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["B.S.name": "alice"])
        try await router.fill(["A.S.__version": 1, "B.S.__version": 2])
        let steps = [
            ContainerStep(from: 1, to: 2, [.movePrefix("A.", to: "B.")]),
            ContainerStep(from: 2, to: 3, [.movePrefix("B.", to: "C.")]),
        ]
        let container = ContainerDefinition(name: "S", version: 3, prefix: "C.", properties: ["name": "String"])
        #expect(try await migrate(container, steps, in: router).from == 2)
        #expect(try await router.content() == ["C.S.name": "\"alice\"", "C.S.__version": "3"])
    }
}
