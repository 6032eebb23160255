import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("ld-host shows and restores what an app has put aside")
struct QuarantineTests {
    private struct Note: Codable, Equatable { var title: String }

    private let home: Home

    init() throws { home = try Home() }

    private func key(_ domain: StorageDomain, _ security: SecurityPolicy) throws -> StorageKey<Note> {
        let builder = DataMigrator<Note>.Builder(targetType: Note.self)
        return StorageKey(
            name: "note", domain: domain, security: security, owner: "tests", description: "a note",
            migrator: try builder.build(), ifUndecodable: .quarantine)
    }

    private func set(_ address: String, _ json: String) throws {
        try home.done("set", address, "--stdin", "--json", input: Array(json.utf8))
    }

    /// Makes an app put the key's value aside, and returns the id of that copy.
    private func putAside(_ domain: StorageDomain, _ security: SecurityPolicy) async throws -> String {
        try set("\(domain)/note", #"{"what":"is this"}"#)
        let router = try home.app()
        await #expect(throws: StorageError.notFound) { try await router.get(key(domain, security)) }
        return try #require(try await router.quarantine.list().values.first).id
    }

    @Test("in plain stores and sealed ones", arguments: ["userDefaults", "encryptedFileSystem"])
    func whole(name: String) async throws {
        let domain: StorageDomain = name == "userDefaults" ? .userDefaults() : .encryptedFileSystem()
        let id = try await putAside(domain, name == "userDefaults" ? .none : .recommended)
        let address = "\(domain)/note"
        #expect(try home.run(BuiltProducts.host, ["get", address]).status == 1)
        let list = try home.done("quarantine", "list").text
        #expect(list.contains(id) && list.contains(address) && list.contains("18 bytes"), "\(list)")
        #expect(try home.done("quarantine", "show", id).text == #"{"what":"is this"}"#)
        #expect(try home.done("quarantine", "show", String(id.prefix(20))).text == #"{"what":"is this"}"#)
        let doctor = try home.run(BuiltProducts.host, ["doctor"])
        #expect(doctor.status != 0 && (doctor.text + doctor.errors).contains("quarantine"), "\(doctor.text)")
        #expect(try home.done("audit").text.contains("in quarantine: \(address)"))
        #expect(try !home.done("ls").text.contains("quarantine"))

        try set(address, #"{"title":"mine"}"#)
        let refused = try home.run(BuiltProducts.host, ["quarantine", "restore", id])
        #expect(refused.status == 2 && refused.errors.contains("--replace"), "\(refused.errors)")
        #expect(try home.done("get", address).text == #"{"title":"mine"}"#)
        try home.done("quarantine", "restore", "--replace", id)
        #expect(try home.done("get", address).text == #"{"what":"is this"}"#)
        #expect(try home.done("quarantine", "list").text.isEmpty)
    }

    @Test("a copy of their domain takes them along, and drop removes them") func copyAndDrop() async throws {
        let id = try await putAside(.userDefaults(), .none)
        try home.done("store", "copy", "sqlite", "file", "--domain", "userDefaults")
        try home.done("config", "set", "domains.userDefaults", "file")
        #expect(try home.done("quarantine", "list").text.contains(id))
        try home.done("quarantine", "drop", id)
        for command in ["show", "restore", "drop"] {
            let ending = try home.run(BuiltProducts.host, ["quarantine", command, "nothing"])
            #expect(ending.status != 0 && ending.errors.contains("'nothing'"), "\(ending.errors)")
        }
    }
}
