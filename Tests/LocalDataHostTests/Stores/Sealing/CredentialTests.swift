import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import LocalDataHost

/// The environment variable belongs to the whole process; no other test here reads it.
@Suite("a store that is sealed with a systemd credential", .serialized) struct CredentialTests {
    private let key = textKey("k", .custom(name: "own"))

    private func with(_ folder: String?, _ body: () async throws -> Void) async throws {
        if let folder { setenv("CREDENTIALS_DIRECTORY", folder, 1) } else { unsetenv("CREDENTIALS_DIRECTORY") }
        defer { unsetenv("CREDENTIALS_DIRECTORY") }
        try await body()
    }

    @Test("the credential of the configured name opens, with and without a line end", arguments: ["", "disk-key"])
    func roundTrip(_ name: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let sealing = "sealing: { source: \"credential\", iterations: 10\(name.isEmpty ? "" : ", name: \"\(name)\"") }"
        let file = "\(home.folder)/\(name.isEmpty ? "localdata" : name)"
        try Data("a credential".utf8).write(to: URL(filePath: file))
        try await with(home.folder) {
            try await home.vault(sealing).set("the value", for: key)
            #expect(try await home.vault(sealing).get(key) == "the value")
            try Data("a credential\n".utf8).write(to: URL(filePath: file))
            #expect(try await home.vault(sealing).get(key) == "the value")
            try Data("another".utf8).write(to: URL(filePath: file))
            let error = try await StorageError.of { try await home.vault(sealing).get(key) }
            #expect(error.code == .cannotOpen && error.message.contains("the credential '"))
        }
        #expect(!home.contains("the value"))
    }

    @Test("if the folder, the file or its content is missing, the error says how a service gets it")
    func missing() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let sealing = "sealing: { source: \"credential\", name: \"c\" }"
        func message() async throws -> String {
            let error = try await StorageError.of { try await home.vault(sealing).set("x", for: key) }
            #expect(error.code == .securityApplicationFailed && error.message.contains("'vault'"))
            return "\(error)"
        }
        try await with(nil) {
            let text = try await message()
            #expect(text.contains("CREDENTIALS_DIRECTORY is not set") && text.contains("LoadCredential=c:PATH"))
        }
        try await with(home.folder) {
            let text = try await message()
            #expect(text.contains("'\(home.folder)/c' cannot be read"))
        }
        try Data().write(to: URL(filePath: "\(home.folder)/c"))
        try await with(home.folder) {
            let text = try await message()
            #expect(text.contains("empty"))
        }
        #expect(home.files("data").isEmpty)
    }
}
