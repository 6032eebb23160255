import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

private struct Tagged: UserDefaultsContainer {
    static let prefix = "App."
    @Setting(description: "What the user has marked.") var tags: [String] = []
    @Setting var ratio = 1.0
}

private final class Shared: UserDefaultsContainer {
    @Setting var count = 1
    init() {}
}

private struct Jotting: VaultStorable {
    static let key = "note"
    static let security = SecurityPolicy.none
    static let defaultValue = "empty"
    typealias Value = String
}

private struct AppCatalog: StorageKeyCatalog {
    var allKeys: [AnyStorageKey] = [.key(ContainerHome.key("own") as StorageKey<String>)]
}

@Suite("keys that containers and vaults declare") struct DeclaredKeyTests {
    @Test("a container works with an app's catalogs, whichever comes first", arguments: [true, false])
    func containers(_ isCatalogFirst: Bool) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        if isCatalogFirst { try await router.registerCatalog(AppCatalog()) }
        let settings = try await Tagged.open(in: router)
        if !isCatalogFirst { try await router.registerCatalog(AppCatalog()) }
        settings.tags = ["one"]
        try await settings.save()
        #expect(try await router.content()["App.Tagged.tags"] == "[\"one\"]")
        await #expect(throws: StorageError.unregisteredKey) {
            try await router.set("x", for: ContainerHome.key("App.Tagged.other") as StorageKey<String>)
        }
        let report = try await StorageAuditReport.make(of: router)
        let tags = try #require(report.entries.first { $0.address == "userDefaults/App.Tagged.tags" })
        #expect(tags.catalog == "Tagged" && tags.owner == "Tagged" && tags.type == "Array<String>")
        #expect(tags.description == "What the user has marked." && tags.isStored == true)
        let version = try #require(report.entries.first { $0.address == "userDefaults/App.Tagged.__version" })
        #expect(version.catalog == "Tagged" && version.type == "Int")
        #expect(report.locations.allSatisfy { $0.uncataloged == 0 })
    }

    @Test("a vault works with an app's catalogs, whichever comes first", arguments: [true, false])
    func vaults(_ isCatalogFirst: Bool) async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        if isCatalogFirst { try await router.registerCatalog(AppCatalog()) }
        let note = VaultDataStorage(Jotting.self, service: router)
        await note.initializationTask.value
        if !isCatalogFirst { try await router.registerCatalog(AppCatalog()) }
        note.value = "kept"
        try await note.save()
        #expect(note.error == nil)
        let report = try await StorageAuditReport.make(of: router)
        let entry = try #require(report.entries.first { $0.address == "userDefaults/note" })
        #expect(entry.catalog == "Jotting" && entry.owner == "Jotting" && entry.type == "String")
    }

    @Test("containers and vaults can be listed by hand, also beside being opened")
    func listed() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let router = try home.launch()
        _ = try await Tagged.open(in: router)
        try await router.registerCatalog(Tagged.catalog)
        try await router.registerCatalog(AppCatalog(allKeys: [.key(Jotting.self)]))
        #expect(try await Tagged.open(in: router).tags == [])
        let names = Tagged.catalog.allKeys.map(\.descriptor.name)
        #expect(names == ["App.Tagged.tags", "App.Tagged.ratio", "App.Tagged.__version"])
        let bytes = try CatalogManifest(Tagged.catalog).json()
        #expect(String(decoding: bytes, as: UTF8.self).contains("What the user has marked."))
    }

    @Test("a write that fails later is logged, and reported by the next call on the container")
    func failedWrite() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let (router, log) = (try home.launch(), LogRecorder())
        try await router.updateLogHandler(log)
        let settings = try await Tagged.open(in: router)
        settings.ratio = .nan
        while !log.lines.contains(where: { $0.contains("App.Tagged.ratio") }) { await Task.yield() }
        await #expect(throws: StorageError.serializationFailed) { try await settings.$tags.load() }
        try await settings.$tags.load()
        await #expect(throws: StorageError.serializationFailed) { try await settings.save() }
        settings.ratio = .infinity
        await #expect(throws: StorageError.serializationFailed) { try await settings.$ratio.save() }
        settings.ratio = 2
        try await settings.save()
        #expect(try await Tagged.open(in: home.launch()).ratio == 2)
    }

    @Test("a final class is a container, and its own errors are never 'not found'")
    func classes() async throws {
        let home = try ContainerHome()
        defer { home.remove() }
        let unopened = Shared()
        unopened.count = 2
        await #expect(throws: StorageError.unsupported) { try await unopened.$count.save() }
        await #expect(throws: StorageError.unsupported) { try await unopened.$count.load() }
        await #expect(throws: StorageError.unsupported) { try await unopened.save() }
        try await unopened.open(in: home.launch())
        #expect(try await Shared.open(in: home.launch()).count == 2)
    }
}
