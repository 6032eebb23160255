import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

private struct Cache: UserDefaultsContainer {
    static let prefix = "MyApp."
    static let version = 2
    static let migratesAfter: [any UserDefaultsContainer.Type] = [Split.self]
    static let steps = [ContainerStep(from: 1, to: 2, [.rename("size", to: "limit")])]
    @Setting var limit = 10
}

private struct Split: UserDefaultsContainer {
    static let prefix = "MyApp."
    static let version = 2
    static let steps = [
        ContainerStep(from: 1, to: 2) { try await $0.move("cacheSize", to: Cache.self, as: "size", version: 1) }
    ]
    @Setting var theme = "light"
}

private struct Network: UserDefaultsContainer {
    static let store = StorageDomain.fileSystem()
    @Setting var timeout = 30
}

private struct Merged: UserDefaultsContainer {
    static let version = 2
    static let migratesAfter: [any UserDefaultsContainer.Type] = [Network.self]
    static let steps = [
        ContainerStep(from: 1, to: 2) { try await $0.take("timeout", from: Network.self, as: "networkTimeout") }
    ]
    @Setting var networkTimeout = 30
}

@Suite("moves of containers") struct ContainerMoveTests {
    /// Runs one step on stored values, and returns the values stored afterwards.
    private func after(
        _ step: ContainerStep, _ values: [String: String], others: [ContainerDefinition] = []
    ) async throws -> [String: String] {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(values)
        try await router.fill(["A.__version": 1])
        let container = ContainerDefinition(name: "A", version: 2)
        do {
            try await migrate(container, [step], in: router, others: others)
        } catch {
            var left = values.mapValues { "\"\($0)\"" }
            left["A.__version"] = "1"
            #expect(try await router.content() == left, "an error changes nothing")
            throw error
        }
        var content = try await router.content()
        #expect(content.removeValue(forKey: "A.__version") == "2")
        return content.mapValues { String($0.dropFirst().dropLast()) }
    }

    private func step(_ changes: ContainerEdit...) -> ContainerStep { ContainerStep(from: 1, to: 2, changes) }

    @Test("moved and swapped values expire as before, and for those that do, no other one expires")
    func expiry() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        let now = Date.now.timeIntervalSinceReferenceDate.rounded()
        let expiring = ["A.a": 1_000, "A.c": 2_000, "A.x": 3_000].mapValues {
            Date(timeIntervalSinceReferenceDate: now + $0)
        }
        for (name, date) in expiring { try await router.set("1", for: Self.key(name), expires: date) }
        try await router.fill(["A.b": "1", "A.y": "2"])
        try await router.fill(["A.__version": 1])
        let changes = step(
            .rename("a", to: "a2"), .rename("a2", to: "a3"), .rename("b", to: "b2"), .remove("c"), .swap("x", "y"),
            .setDefault("d", AnyCodable(.string("1"))))
        try await migrate(ContainerDefinition(name: "A", version: 2), [changes], in: router)
        var found: [String: Date] = [:]
        for name in try await router.names(in: .userDefaults(), prefix: "") {
            found[name] = try await router.expiry(of: Self.key(name))
        }
        #expect(found == ["A.a3": expiring["A.a"], "A.y": expiring["A.x"]])
    }

    private static func key(_ name: String) -> StorageKey<String> { ContainerHome.key(name) }

    @Test("seed defect 31: short names are those of settings, swaps and rings do not depend on the order")
    func simultaneous() async throws {
        #expect(
            try await after(step(.rename("a", to: "b")), ["A.a": "1", "a": "2"]) == ["A.b": "1", "a": "2"])
        #expect(
            try await after(step(.rename(.stored("a"), to: "b")), ["A.a": "1", "a": "2"]) == ["A.a": "1", "A.b": "2"])
        #expect(try await after(step(.swap("a", "b")), ["A.a": "1", "A.b": "2"]) == ["A.a": "2", "A.b": "1"])
        #expect(try await after(step(.swap("a", "b")), ["A.b": "2"]) == ["A.a": "2"])
        let ring = ContainerEdit.renames([
            ContainerRename("a", to: "b"), ContainerRename("b", to: "c"), ContainerRename("c", to: "a"),
        ])
        #expect(
            try await after(step(ring), ["A.a": "1", "A.b": "2", "A.c": "3"])
                == ["A.b": "1", "A.c": "2", "A.a": "3"])
        let chain = ContainerEdit.renames([ContainerRename("a", to: "b"), ContainerRename("b", to: "c")])
        #expect(try await after(step(chain), ["A.a": "1", "A.b": "2"]) == ["A.b": "1", "A.c": "2"])
    }

    @Test("seed defect 31: a collision names both keys, and nothing is moved")
    func collisions() async throws {
        func message(_ edit: ContainerEdit, _ values: [String: String]) async -> String? {
            let error = await MigrationError.of { try await after(step(edit), values) }
            #expect(error?.code == .conflict)
            return error?.message
        }
        let taken = await message(.rename("a", to: "b"), ["A.a": "1", "A.b": "2"])
        #expect(taken?.contains("'userDefaults/A.a' to 'userDefaults/A.b', which has a value") == true)
        let two = ContainerEdit.renames([ContainerRename("a", to: "c"), ContainerRename("b", to: "c")])
        #expect(
            await message(two, ["A.a": "1"])?.contains(
                "'userDefaults/A.a' and 'userDefaults/A.b' to 'userDefaults/A.c'")
                == true)
        let fork = ContainerEdit.renames([ContainerRename("a", to: "b"), ContainerRename("a", to: "c")])
        #expect(await message(fork, ["A.a": "1"])?.contains("a value has one place") == true)
        let prefix = await message(.movePrefix("Old.", to: "A."), ["Old.x": "1", "Old.y": "2", "A.y": "3"])
        #expect(prefix?.contains("'userDefaults/Old.y' to 'userDefaults/A.y'") == true)
    }

    @Test("seed defect 31: a prefix takes neither versions nor the keys of other containers")
    func prefixes() async throws {
        let values = [
            "Old.A.x": "1", "Old.B.x": "2", "Old.B.__version": "3", "Old.__version": "4", "Old.C.x": "5",
            "Older.x": "6",
        ]
        let other = ContainerDefinition(name: "C", prefix: "Old.")
        var left = values
        left["Old.A.x"] = nil
        left["New.A.x"] = "1"
        #expect(try await after(step(.movePrefix("Old.", to: "New.")), values, others: [other]) == left)
        let error = await MigrationError.of { try await after(step(.movePrefix("", to: "New.")), values) }
        #expect(error?.message.contains("the empty prefix") == true)
        // The old prefix is a part of the new one.
        #expect(
            try await after(step(.movePrefix("A.", to: "A.B.")), ["A.x": "1", "A.B.x": "2"])
                == ["A.B.x": "1", "A.B.B.x": "2"])
    }

    @Test("a removal, a default, and a declared change between two locations")
    func others() async throws {
        let steps = step(.remove("a"), .setDefault("b", "new"), .setDefault("c", "new"), .remove("none"))
        #expect(try await after(steps, ["A.a": "1", "A.b": "2"]) == ["A.b": "2", "A.c": "new"])
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["A.a": "1"])
        let container = ContainerDefinition(name: "A", version: 2)
        try await migrate(container, [step(.move(from: "a", to: "fileSystem/moved"))], in: router)
        #expect(try await router.content() == ["A.__version": "2"])
        #expect(try await router.content(of: .fileSystem()) == ["moved": "\"1\""])
        let weaker = ContainerDefinition(name: "B", version: 2, store: .keychain(service: "tests"))
        try await router.set("secret", for: ContainerHome.key("B.a", .keychain(service: "tests")))
        let error = await MigrationError.of {
            try await migrate(weaker, [step(.move(from: "a", to: "userDefaults/B.a"))], in: router)
        }
        #expect(error?.message.contains("would store its data plain") == true)
    }

    @Test("seed defect 31: modules and containers are moved whole, by the calls of the seed")
    func seedCalls() async throws {
        struct New: UserDefaultsContainer {
            static let prefix = "Kit."
            static let version = 2
            static let name = "A"
            static let steps = [
                ContainerStep(from: 1, to: 2) { _ in
                    typealias Manager = UserDefaultsMigrationManager
                    try await Manager.migrateModule(from: "OldKit", to: "Kit", container: New.self)
                    try await Manager.migrateContainer(from: "Kit.Old", to: "Kit.A", container: New.self)
                    try await Manager.migrateKey(from: "Kit.A.one", to: "Kit.A.uno", container: New.self)
                    try await Manager.migrateBatch([("two", "three"), ("three", "two")], container: New.self)
                }
            ]
        }
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill([
            "OldKit.Old.one": "1", "OldKit.Old.two": "2", "OldKit.Old.three": "3", "OldKitten.x": "4",
        ])
        _ = try await New.open(in: router)
        #expect(
            try await router.content() == [
                "Kit.A.uno": "\"1\"", "Kit.A.three": "\"2\"", "Kit.A.two": "\"3\"", "OldKitten.x": "\"4\"",
                "Kit.A.__version": "2",
            ])
        let error = await MigrationError.of {
            try await UserDefaultsMigrationManager.migrateKey(from: "a", to: "b", container: New.self)
        }
        #expect(error?.message.contains("outside of a step") == true)
    }

    @Test("a split gives the new container the version of its keys, and a merge reads from another location")
    func splitAndMerge() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["MyApp.Split.cacheSize": 99])
        #expect(try await Cache.open(in: router).limit == 99)
        #expect(
            try await router.content()
                == ["MyApp.Cache.limit": "99", "MyApp.Cache.__version": "2", "MyApp.Split.__version": "2"])
        try await router.fill(["Network.timeout": 5], in: .fileSystem())
        #expect(try await Merged.open(in: router).networkTimeout == 5)
        #expect(try await router.content(of: .fileSystem()) == ["Network.__version": "1"])
    }

    @Test("a split into a container whose data has another version is refused")
    func splitTooLate() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["MyApp.Split.cacheSize": 99, "MyApp.Cache.__version": 2])
        let error = await MigrationError.of { try await Split.open(in: router) }
        #expect(error?.message.contains("name 'Split' in migratesAfter of 'Cache'") == true)
        #expect(try await router.content()["MyApp.Split.cacheSize"] == "99")
    }

    @Test("moved values keep their bytes, formats and version tags, also if they change locations")
    func attributes() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        let plist: StorageKey<[String]> = MigrationHome.key("A.a", .custom(name: "rows"), as: .plist)
        try await router.set(["one"], for: plist)
        try await router.set("two", for: MigrationHome.key("A.b", .custom(name: "rows"), as: .json))
        let container = ContainerDefinition(name: "A", version: 3, store: .custom(name: "rows"))
        let steps = [
            ContainerStep(from: 1, to: 2, [.swap("a", "b")]), ContainerStep(from: 2, to: 3, [.rename("b", to: "c")]),
        ]
        try await migrate(container, steps, in: router)
        let moved: StorageKey<[String]> = MigrationHome.key("A.c", .custom(name: "rows"), as: .plist)
        #expect(try await router.get(moved) == ["one"])
        let found = try await router.attributes(of: AnyStorageKey(moved))
        #expect(found?.serializer == "plist", "\(found as Any)")
    }
}
