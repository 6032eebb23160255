import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The PostgreSQL store refuses")
struct RefusalTests {
    @Test(
        "a URI with a password, without repeating it",
        arguments: [
            "postgresql://ann:hunter2@127.0.0.1/db", "postgresql:///db?password=hunter2",
            "postgresql:///db?sslpassword=hunter2", "postgresql://ann:hunter2@127.0.0.1:port:x/db",
            "host=127.0.0.1 password=hunter2",
        ])
    func password(_ uri: String) {
        let error = #expect(throws: StorageError.self) { try OpenStore(uri) }
        #expect(error?.code == .invalidOptions)
        #expect(error.map { !"\($0)".contains("hunter2") } ?? false, "\(String(describing: error))")
    }

    @Test(
        "an unverified server on the network",
        arguments: ["require", "prefer", "disable", "verify-ca"])
    func unverified(_ mode: String) throws {
        let error = #expect(throws: StorageError.self) { try OpenStore("postgresql://db.example/x?sslmode=\(mode)") }
        #expect(error?.code == .invalidOptions)
        _ = try OpenStore("postgresql://db.example/x?sslmode=verify-full")
        _ = try OpenStore("postgresql://db.example/x")
        _ = try OpenStore("postgresql://127.0.0.1/x?sslmode=\(mode)")
    }

    @Test("options that make no sense")
    func options() {
        for options: [String: ComponentOption.Value] in [
            ["uri": .string("http://example")], ["schema": .string("a\"b")], ["schema": .string("")],
            ["schema": .string("pg_x")], ["poolSize": .integer(0)], ["timeout": .number(0)],
            ["largestValue": .integer(0)], ["passwordFile": .string("relative")],
            ["uri": .string("postgresql:///?service=x")],
        ] {
            let error = #expect(throws: StorageError.self, "\(options)") { try OpenStore("postgresql:///", options) }
            #expect(error?.code == .invalidOptions, "\(options)")
        }
    }

    @Test("tables of a later version")
    func laterVersion() throws {
        let server = try PostgreSQLServer.shared.get()
        let store = try OpenStore(server.uri())
        try store.set("name", "value")
        try server.run("UPDATE \(store.schema).store SET version = 99")
        let later = try OpenStore(server.uri(), schema: store.schema)
        let error = #expect(throws: StorageError.self) { try later.get("name") }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("version 99") ?? false, "\(String(describing: error))")
    }

    @Test("a value that is larger than the limit")
    func tooLarge() throws {
        let store = try OpenStore(PostgreSQLServer.shared.get().uri(), ["largestValue": .integer(10)])
        #expect(throws: StorageError.valueTooLarge) { try store.set("name", Data(count: 11)) }
        try store.set("name", Data(count: 10))
    }
}

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
