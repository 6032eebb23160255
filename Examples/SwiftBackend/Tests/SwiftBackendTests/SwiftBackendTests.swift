import Foundation
import LocalDataPluginAPI
import LocalDataTesting
import Testing

@testable import SwiftBackend

@Suite("SwiftBackend")
struct SwiftBackendTests {
    @Test("gives back what was stored, also after it was opened again, and forgets what was removed")
    func keepsValues() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).plist").path()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let options = ComponentOptions(["file": .string(file)])
        let host = HostServices(name: "test", version: "1")
        let theme = StorageAddress(StorageNamespace(domain: "userDefaults"), name: "theme")

        let store = try SwiftBackend(options: options, host: host)
        #expect(try value(of: theme, in: store) == nil)
        try store.set(theme, to: Data("dark".utf8).bytes, attributes: nil)
        #expect(try value(of: theme, in: store) == Data("dark".utf8))

        let again = try SwiftBackend(options: options, host: host)
        #expect(try value(of: theme, in: again) == Data("dark".utf8))
        #expect(try again.remove(theme))
        #expect(try !again.remove(theme))
        #expect(!again.exists(theme))
    }

    @Test("keeps every promise of a store")
    func conforms() async throws {
        let report = try await StorageConformance.run(SwiftBackend.self)
        #expect(report.failures.isEmpty, "\(report)")
    }

    private func value(of key: StorageAddress, in store: SwiftBackend) throws -> Data? {
        var value: Data?
        _ = store.get(key) { bytes in value = bytes.withUnsafeBytes { Data($0) } }
        return value
    }
}
