import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing
@testable import LocalDataHost

@Suite("versions of containers") struct ContainerVersionTests {
    private let own = "MyApp.MySettings"

    @Test("seed defect 22: data without a version has the baseline version; a store without data is a fresh install")
    func baseline() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["\(own).userName": "alice"])
        let progress = try await UserDefaultsMigrationManager.migrateIfNeeded(Releases.Third.self, in: router)
        #expect(progress == ContainerProgress(from: 1, to: 3, steps: [2, 3]))
        #expect(
            try await router.content()
                == ["\(own).username": "\"alice\"", "\(own).maxRetries": "5", "\(own).__version": "3"])
        let other = StorageDomain.userDefaults(suite: "fresh")
        let fresh = try await Releases.Third.open(in: home.launch(), store: other)
        #expect(fresh.username == "guest" && fresh.maxRetries == 3)
        #expect(try await router.content(of: other) == ["\(own).__version": "3"])
    }

    @Test("seed defect 22: values that only a step's function knows count as data, too")
    func baselineOfFunctions() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["unprefixed_name": "alice"])
        let container = ContainerDefinition(name: "Later", version: 2, properties: ["name": "String"])
        let step = ContainerStep(from: 1, to: 2) { try await $0.rename(.stored("unprefixed_name"), to: "name") }
        #expect(try await migrate(container, [step], in: router).from == 1)
        #expect(try await router.content() == ["Later.name": "\"alice\"", "Later.__version": "2"])
        let fails = ContainerStep(from: 1, to: 2) { _ in throw StorageError(.notFound, "nothing to do") }
        let fresh = ContainerDefinition(name: "Fresh", version: 2)
        #expect(try await migrate(fresh, [fails], in: router).from == nil)
    }

    @Test("seed defect 23: an outdated container migrates once, a current one not at all, and a version can be read")
    func onlyOne() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        let stored = { try await UserDefaultsMigrationManager.getStoredVersion(for: Releases.Third.self, in: router) }
        #expect(try await stored() == nil)
        _ = try await Releases.First.open(in: home.launch())
        #expect(try await stored() == 1)
        let steps = try await UserDefaultsMigrationManager.migrateIfNeeded(Releases.Third.self, in: router).steps
        #expect(steps == [2, 3])
        #expect(try await stored() == 3)
        #expect(try await UserDefaultsMigrationManager.migrateIfNeeded(Releases.Third.self, in: router).steps == [])
    }

    @Test("seed defect 24: one version key for two containers is refused, in one launch and in the next")
    func sharedKey() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        _ = try await Releases.SharedOne.open(in: router)
        for router in [router, try home.launch()] {
            let error = await MigrationError.of { try await Releases.SharedTwo.open(in: router) }
            #expect(error?.code == .validationFailed)
            #expect(error?.message.contains("SharedOne") == true && error?.message.contains("SharedTwo") == true)
        }
        #expect(try await router.content() == ["__version": "2"])
    }

    @Test("seed defect 24: settings cannot have the names of versions, and steps cannot change them")
    func reserved() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        let error = await MigrationError.of { try await Releases.Reserved.open(in: router) }
        #expect(error?.message.contains("the setting 'number' with the key '__version'") == true)
        try await router.fill(["A.__version": 1])
        let container = ContainerDefinition(name: "A", version: 2)
        let step = ContainerStep(from: 1, to: 2, [.remove("A.__version")])
        let refusal = await MigrationError.of { try await migrate(container, [step], in: router) }
        #expect(refusal?.message.contains("reserved for versions") == true)
        for name in ["__version", "A.__version", "A.__container_version", "__A_version"] {
            #expect(ContainerVersionKey.isReserved(name))
        }
        #expect(!ContainerVersionKey.isReserved("A.version") && !ContainerVersionKey.isReserved("A.app_version"))
    }

    @Test("seed defect 25: a missing step is an error before anything is written")
    func missingStep() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["\(own).userName": "alice"])
        try await router.fill(["\(own).__version": 1])
        let before = try await router.content()
        let error = await MigrationError.of { try await Releases.Gap.open(in: router) }
        #expect(error?.code == .validationFailed && error?.message.contains("no step 1 -> 2") == true)
        #expect(try await router.content() == before)
    }

    @Test("seed defect 26: a version under a former key counts, and moves with the step")
    func formerKey() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let first = try await Releases.First.open(in: home.launch())
        first.userName = "alice"
        try await first.$userName.save()
        let router = try home.launch()
        #expect(try await Releases.Moved.open(in: router).userName == "alice")
        #expect(try await router.content() == ["New.MySettings.userName": "\"alice\"", "New.__version": "2"])
        try await router.fill(["MyApp.MySettings.__version": 1])
        try await router.fill(["MyApp.MySettings.theme": "dark"])
        let error = await MigrationError.of { try await Releases.Moved.open(in: router) }
        #expect(error?.message.contains("has two versions: 2 in") == true)
    }

    @Test("seed defect 26: a version that is current moves without a step, and a shared one stays for others")
    func formerKeyWithoutStep() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["__version": 2, "Old.__version": 2])
        let key = ContainerVersionKey("A.__version", formerly: ["Old.__version", .shared])
        let container = ContainerDefinition(name: "A", version: 2, versionKey: key, baseline: 2)
        #expect(try await migrate(container, [], in: router).from == 2)
        #expect(try await router.content() == ["__version": "2", "A.__version": "2"])
        #expect(try await migrate(container, [], in: router).steps == [])
    }

    @Test("seed defect 27: a step that throws changes nothing, and the steps before it stay done")
    func throwing() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["A.x": "value", "A.y": "other"])
        struct Broken: Error {}
        let works = ContainerStep(from: 1, to: 2, [.rename("x", to: "z")])
        let fails = ContainerStep(from: 2, to: 3) { store in
            try await store.remove("y")
            throw Broken()
        }
        let container = ContainerDefinition(name: "A", version: 3)
        let before = try await router.content()
        let error = await MigrationError.of { try await migrate(container, [works, fails], in: router) }
        #expect(error?.message.contains("container userDefaults/A 3") == true)
        #expect(error?.message.contains("no step was run") == true)
        #expect(try await router.content() == before, "what is known to fail is not begun")
        // A step that fails only in the real run leaves the steps before it committed.
        let calls = Recorder<Int>()
        let failsLater = ContainerStep(from: 2, to: 3) { store in
            calls.add(0)
            if calls.all.count > 1 { throw Broken() }
        }
        await #expect(throws: MigrationError.self) { try await migrate(container, [works, failsLater], in: router) }
        #expect(try await router.content() == ["A.z": "\"value\"", "A.y": "\"other\"", "A.__version": "2"])
    }

    @Test("seed defect 28: data of a later version is refused with both versions")
    func later() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["\(own).__version": 4])
        let error = await MigrationError.of { try await Releases.Third.open(in: router) }
        #expect(error?.code == .newerRevision)
        #expect(error?.message.contains("version 4") == true && error?.message.contains("version 3") == true)
    }

    @Test("seed defect 29: registered defaults are not data")
    func registeredDefaults() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.registerDefault("default", for: ContainerHome.key("\(own).username"))
        try await router.fill(["\(own).userName": "alice"])
        #expect(try await Releases.Third.open(in: router).username == "alice")
        let fresh = try home.launch()
        let other = StorageDomain.userDefaults(suite: "fresh")
        try await fresh.registerDefault("default", for: ContainerHome.key("\(own).userName", other))
        let progress = try await UserDefaultsMigrationManager.migrateIfNeeded(
            Releases.Third.self, in: fresh, store: other)
        #expect(progress.from == nil)
    }

    @Test(
        "seed defect 30: only a whole number from 1 on is a version",
        arguments: ["abc", "2.9", "0", "-1", "\"2\"", "", " 2", "1e0", "99999999999999999999", "true"])
    func strict(_ text: String) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        let key = AnyStorageKey(try StorageKeyDescriptor(address: "userDefaults/\(own).__version"))
        try await router.setData(Data(text.utf8), for: key)
        try await router.fill(["\(own).userName": "alice"])
        let before = try await router.content()
        let error = await MigrationError.of { try await Releases.Third.open(in: router) }
        #expect(error?.code == .validationFailed)
        #expect(error?.message.contains("userDefaults/\(own).__version") == true)
        #expect(try await router.content() == before)
    }

    @Test("seed defect 32: a step can be undone while the old values are kept")
    func rollback() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["\(own).userName": "alice", "\(own).theme": "dark"])
        try await router.fill(["\(own).__version": 1])
        let before = try await router.content()
        _ = try await Releases.Third.open(in: router)
        try await UserDefaultsMigrationManager.rollback(Releases.Third.self, in: router)
        #expect(try await UserDefaultsMigrationManager.getStoredVersion(for: Releases.Third.self, in: router) == 2)
        try await UserDefaultsMigrationManager.rollback(Releases.Third.self, in: router)
        #expect(try await router.content() == before)
        #expect(try await Releases.First.open(in: home.launch()).userName == "alice")
        #expect(try await Releases.Third.open(in: router).username == "alice")
    }

    @Test("seed defect 32: a plan shows each step, and changes nothing")
    func plan() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["\(own).userName": "alice"])
        let before = try await router.content()
        let plan = try await UserDefaultsMigrationManager.migrationPlan(for: Releases.Third.self, in: router)
        #expect(
            plan.map(\.migration) == ["container userDefaults/MySettings 2", "container userDefaults/MySettings 3"])
        #expect(plan.allSatisfy { $0.decision == .run })
        #expect(plan.first?.removes.map(\.address) == ["userDefaults/\(own).userName"])
        #expect(try await router.content() == before)
    }

    @Test("seed defect 44: keys have the prefix, the container and the property, or the prefix and the given key")
    func keys() async throws {
        struct Keys: UserDefaultsContainer {
            static let prefix = "MyApp."
            @Setting var username = "anonymous"
            @Setting(key: "user_name") var explicit = "anonymous"
        }
        #expect(Keys.definition.properties.map(\.key) == ["MyApp.Keys.username", "MyApp.user_name"])
        #expect(Keys.definition.properties.map(\.typeName) == ["String", "String"])
        #expect(Keys.definition.defaultValueFor("username") == "anonymous")
        #expect(Keys.definition.keyFor("other") == "MyApp.Keys.other")
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        let keys = try await Keys.open(in: router)
        keys.explicit = "alice"
        try await keys.$explicit.save()
        #expect(try await router.content() == ["MyApp.user_name": "\"alice\"", "MyApp.Keys.__version": "1"])
    }
}
