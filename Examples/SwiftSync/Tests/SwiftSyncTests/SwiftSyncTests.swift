import Foundation
import LocalDataPluginAPI
import LocalDataTesting
import Testing

@testable import SwiftSync

@Suite("SwiftSync")
struct SwiftSyncTests {
    @Test("brings a record to another device, and nothing else since then")
    func carries() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let options = ComponentOptions(["folder": .string(folder)])
        let host = HostServices(name: "test", version: "1")
        let laptop = try SwiftSync(options: options, host: host)
        let phone = try SwiftSync(options: options, host: host)
        let record = SyncRecord(writer: "laptop", name: "theme", content: Data("dark".utf8))

        try laptop.publish([record])
        var found: [SyncRecord] = []
        func take(_ record: SyncRecord) -> Bool {
            found.append(record)
            return true
        }
        let position = try phone.fetch(since: nil, take)
        #expect(found == [record])
        _ = try phone.fetch(since: position, take)
        #expect(found == [record])
        #expect(throws: StorageError.positionLost) { try phone.fetch(since: Data("x".utf8), take) }
    }

    @Test("keeps every promise of a sync transport")
    func conforms() async throws {
        let report = try await SyncConformance.run(SwiftSync.self)
        #expect(report.failures.isEmpty, "\(report)")
    }
}
