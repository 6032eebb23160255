import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

/// Opens stores without the router, for tests of the boundary itself.
extension PluginImage {
    /// A store of the plugin without options.
    func open(_ id: String = "fixture") throws -> LoadedStore {
        try openStore(id, options: ResolvedOptions(), host: HostTable.shared(for: SilentLog()))
    }
}

extension LoadedStore {
    /// Resolves a name for the duration of `body`.
    func with<Result>(
        _ name: String, in place: StorageNamespace = StorageNamespace(domain: "userDefaults"),
        _ body: (StoreHandle) throws -> Result
    ) throws -> Result {
        let handle = try resolve(StorageAddress(place, name: name))
        defer { release(handle) }
        return try body(handle)
    }
}

/// Expects that this process, after any refusals, still loads and uses a correct plugin.
func expectGoodPluginWorks(_ fixture: FixtureBuilder, _ location: SourceLocation = #_sourceLocation) throws {
    let store = try PluginImage.load(fixture.build(as: "libGood.so")).open()
    try store.with("after") { handle in
        try store.set(handle, to: Data("refusal".utf8), attributes: nil)
        #expect(try store.get(handle) == Data("refusal".utf8), sourceLocation: location)
    }
}
