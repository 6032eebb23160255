import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The password of a PostgreSQL server")
struct PasswordTests {
    private let server: PostgreSQLServer
    private let folder: TemporaryFolder

    init() throws {
        server = try PostgreSQLServer.shared.get()
        folder = try TemporaryFolder()
    }

    private func store(_ password: String, mode: Int = 0o600) throws -> OpenStore {
        try folder.write(Data("\(password)\n".utf8), to: "password")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder.path)/password")
        return try OpenStore(server.uri("secret"), ["passwordFile": .string("\(folder.path)/password")])
    }

    @Test("is read from a file at each connection")
    func file() throws {
        let store = try store(PostgreSQLServer.password)
        try store.set("name", "value")
        #expect(try store.text("name") == "value")
    }

    @Test("is not read from a file that others can read", arguments: [0o604, 0o640, 0o644])
    func rights(_ mode: Int) throws {
        let store = try store(PostgreSQLServer.password, mode: mode)
        let error = #expect(throws: StorageError.self) { try store.get("name") }
        #expect(error?.code == .permissionDenied)
        #expect(error?.message.contains("\(folder.path)/password") ?? false)
        #expect(error?.hint == "take it away from them: chmod 600 '\(folder.path)/password'")
    }

    @Test("does not appear in an error if it is wrong")
    func wrong() throws {
        let store = try store("wrong horse")
        let error = #expect(throws: StorageError.self) { try store.get("name") }
        #expect(error?.code == .permissionDenied, "\(String(describing: error))")
        #expect(error.map { !"\($0)".contains("horse") } ?? false)
    }

    @Test("is missing, and the error says so")
    func missing() throws {
        let store = try OpenStore(server.uri("secret"), ["passwordFile": .string("\(folder.path)/none")])
        #expect(throws: StorageError.storeUnavailable) { try store.get("name") }
        let without = try OpenStore(server.uri("secret"))
        let error = #expect(throws: StorageError.self) { try without.get("name") }
        #expect(error?.message.contains("password") ?? false, "\(String(describing: error))")
    }
}
