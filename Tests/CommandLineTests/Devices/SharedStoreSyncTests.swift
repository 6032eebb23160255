import TestSupport
import Testing

/// A database that several machines share has their values already.
@Suite("Sync with a store of several machines")
struct SharedStoreSyncTests {
    @Test("is refused, since devices would overwrite what sync keeps of each other", arguments: ["init", "join"])
    func refused(_ verb: String) throws {
        let (home, server) = (try Home(), try PostgreSQLServer.shared.get())
        try home.done("config", "set", "stores.shared.component", "postgresql")
        try home.done("config", "set", "stores.shared.options.uri", server.uri())
        try home.done("config", "set", "stores.shared.options.schema", "synced_\(UInt32.random(in: 0 ... .max))")
        try home.done("config", "set", "domains.userDefaults", "shared")
        try home.done("config", "set", "sync.options.folder", home.path)
        try home.done("config", "set", "sync.transport", "folder")
        let ending = try home.run(BuiltProducts.host, ["sync", verb], input: Array("code\n".utf8))
        #expect(ending.status == 2)
        #expect(ending.errors.contains("the store 'shared' is shared by several machines"), "\(ending.errors)")
        #expect(ending.errors.contains("ld-host config set domains.DOMAIN file"), "\(ending.errors)")
    }
}
