import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

private struct Plain: UserDefaultsContainer {
    @Setting var theme = "light"
    @Setting(key: "count") var count = 0
}

private struct Reentrant: UserDefaultsContainer {
    static let version = 2
    static let steps = [ContainerStep(from: 1, to: 2) { _ in _ = try await Plain.open() }]
    static let baseline = 1
    @Setting var name = ""
}

@Suite("opening containers") struct ContainerOpeningTests {
    @Test("before a container is open, settings have their defaults, and new values wait")
    func before() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["Plain.theme": "dark"])
        let settings = Plain()
        #expect(settings.theme == "light" && !settings.$theme.isLoaded)
        settings.count = 7
        #expect(settings.count == 7)
        await #expect(throws: StorageError.unsupported) { try await settings.$count.save() }
        await #expect(throws: StorageError.unsupported) { try await settings.$theme.load() }
        var changes = settings.$theme.changes.makeAsyncIterator()
        try await settings.open(in: router)
        #expect(settings.theme == "dark" && settings.count == 7 && settings.$theme.isLoaded)
        #expect(
            try await router.content() == ["Plain.theme": "\"dark\"", "count": "7", "Plain.__version": "1"])
        #expect(await changes.next() == "dark")
        settings.theme = "blue"
        #expect(await changes.next() == "blue")
        try await settings.$theme.save()
        #expect(try await Plain.open(in: home.launch()).theme == "blue")
    }

    @Test("each user's store has its own version and settings")
    func users() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        for user in ["alice", "bob"] {
            let settings = try await Plain.open(in: router, store: .userDefaults(suite: user))
            settings.theme = user
            try await settings.$theme.save()
        }
        #expect(try await Plain.open(in: router, store: .userDefaults(suite: "alice")).theme == "alice")
        #expect(try await router.content().isEmpty)
    }

    @Test("seed defect 33: a step that opens a container is refused, and does not call itself")
    func reentrant() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        try await router.fill(["Reentrant.name": "alice"])
        let error = await MigrationError.of { try await Reentrant.open(in: router) }
        #expect(error?.message.contains("a step has to use the store that it is given") == true)
    }

    @Test("seed defect 33: many tasks and several launches at once run each step once")
    func atOnce() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let routers = try (0..<4).map { _ in try home.launch() }
        try await routers[0].fill(["A.n": 0])
        let container = ContainerDefinition(name: "A", version: 9)
        let steps = (1..<9).map { from in
            ContainerStep(from: from, to: from + 1) { store in
                let count: Int = try await store.get("n") ?? 0
                try await store.set(count + 1, for: "n")
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask { _ = try await migrate(container, steps, in: routers[index % 4]) }
            }
            try await group.waitForAll()
        }
        #expect(try await routers[0].content() == ["A.n": "8", "A.__version": "9"])
    }

    @Test("seed defect 33: users who share a group's folder, with state folders of their own, share one lock in it")
    func groupLock() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        let group = StorageDomain.appGroupUserDefaults(identifier: "group.tests")
        try await router.fill(["A.n": 1], in: group)
        let snapshot = try await router.snapshot()
        let folder = try #require(snapshot.settings.place(of: group).directory)
        try #require(access(folder, F_OK) == 0)
        let isLocked = Recorder<Bool>()
        let step = ContainerStep(from: 1, to: 2) { _ in
            let other = open(folder, O_RDONLY | O_DIRECTORY)
            defer { close(other) }
            isLocked.add(other >= 0 && flock(other, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        }
        try await migrate(ContainerDefinition(name: "A", version: 2, store: group), [step], in: router)
        #expect(isLocked.all.last == true, "\(isLocked.all)")
        let held = try FileLock(folder).holdFolder()
        #expect(throws: StorageError.busy) { _ = try FileLock(folder, patience: .milliseconds(1)).holdFolder() }
        let isMissing = try FileLock("\(folder)/missing").holdFolder() == nil
        #expect(isMissing)
        _ = consume held
    }

    @Test("a folder of another user is not locked, and no advice names it", .enabled(if: geteuid() == 0))
    func strangersFolderAsRoot() throws {
        let folder = try TemporaryFolder()
        try #require(chown(folder.path, 12345, 12345) == 0)
        let error = try #require(throws: StorageError.self) { _ = try FileLock(folder.path).holdFolder() }
        #expect(error.code == .permissionDenied && error.message.contains("belongs to uid 12345"), "\(error)")
        #expect(error.hint.hasPrefix("use a folder of your own") && !error.hint.contains(folder.path), "\(error.hint)")
    }

    @Test("a container that names itself in migratesAfter is refused")
    func circle() async throws {
        struct Circle: UserDefaultsContainer {
            static let migratesAfter: [any UserDefaultsContainer.Type] = [Circle.self]
        }
        let home = try ContainerHome()
        defer { home.remove() }
        let error = await MigrationError.of { try await Circle.open(in: home.launch()) }
        #expect(error?.code == .unresolvedDependency)
    }
}
