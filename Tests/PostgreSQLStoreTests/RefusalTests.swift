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
