import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The plugin of the secret service")
struct ConformanceTests {
    @Test("keeps every promise of a store, over gnome-keyring, as tested by ld-host")
    func conforms() throws {
        let session = try Session(.keyring())
        let end = try session.run(BuiltProducts.host, "plugins", "test", StoreProgram.plugin)
        let report = String(decoding: end.output, as: UTF8.self)
        #expect(end.status == 0, "\(report)\(end.errors)")
        #expect(report.contains("48 passed, 0 failed") || report.contains("49 passed, 0 failed"), "\(report)")
    }

    @Test("declares a keychain that processes share, and no guarantee against a power loss")
    func properties() throws {
        let session = try Session(.nothing)
        let store = try session.open()
        #expect(store.properties.isKeychain)
        #expect(store.properties.isShared)
        #expect(!store.properties.isDurable)
        #expect(store.properties.latency == .interactive)
        #expect(
            store.abilityIDs.sorted() == [
                "localdata.store.attributes/1", "localdata.store.enumeration/1",
            ])
    }
}
