import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

/// Opening stores past the router, for tests of the boundary itself.
extension PluginImage {
    /// A store of the plugin with no options of its own.
    func open(_ id: String = "fixture") throws -> LoadedStore {
        try openStore(id, options: ResolvedOptions(), host: HostTable.shared(for: SilentLog()))
    }
}

extension LoadedStore {
    /// Resolves a name for the time of `body`.
    func with<Result>(
        _ name: String, in place: StorageNamespace = StorageNamespace(domain: "userDefaults"),
        _ body: (StoreHandle) throws -> Result
    ) throws -> Result {
        let handle = try resolve(StorageAddress(place, name: name))
        defer { release(handle) }
        return try body(handle)
    }
}

/// That this process, whatever was refused in it, still loads and uses a plugin that is right.
func expectGoodPluginWorks(_ fixture: FixtureBuilder, _ location: SourceLocation = #_sourceLocation) throws {
    let store = try PluginImage.load(fixture.build(as: "libGood.so")).open()
    try store.with("after") { handle in
        try store.set(handle, to: Data("refusal".utf8), attributes: nil)
        #expect(try store.get(handle) == Data("refusal".utf8), sourceLocation: location)
    }
}
