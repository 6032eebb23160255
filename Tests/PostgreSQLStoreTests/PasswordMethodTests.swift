import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// The user `clear` is asked for the password itself, and `secret` for a proof of it (SCRAM).
@Suite("A PostgreSQL server on a loopback address, and a password")
struct PasswordMethodTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Data(PostgreSQLServer.password.utf8), to: "password")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder.path)/password")
    }

    private func store(_ uri: String, allowing isAllowed: Bool = false) throws -> OpenStore {
        try OpenStore(
            uri,
            [
                "passwordFile": .string("\(folder.path)/password"), "allowsUnverifiedServer": .boolean(isAllowed),
            ])
    }

    private func expectRefusal(_ store: OpenStore) {
        let error = #expect(throws: StorageError.self) { try store.set("name", "value") }
        #expect(error?.code == .permissionDenied, "\(String(describing: error))")
        #expect(error.map { "\($0)".contains("allowsUnverifiedServer") } ?? false, "\(String(describing: error))")
    }

    @Test("gets it in clear over verified TLS only, unless an option allows more")
    func clear() throws {
        let server = try PostgreSQLServer.shared.get()
        expectRefusal(try store(server.uri("clear")))
        try store(server.uri("clear"), allowing: true).set("name", "value")
        let query = "?sslmode=verify-full&sslrootcert=\(server.certificate("authority"))"
        try store(server.uri("clear", host: "localhost", query)).set("name", "value")
    }

    @Test(
        "gets a proof over TLS, also with a certificate that nobody knows, and without TLS only if an option allows it")
    func proof() throws {
        let server = try PostgreSQLServer.shared.get()
        try store(server.uri("secret", "?sslmode=disable")).set("name", "value")
        let plain = try PostgreSQLServer("-c ssl=off")
        expectRefusal(try store(plain.uri("secret")))
        try store(plain.uri("secret"), allowing: true).set("name", "value")
    }

    @Test("is refused if it does not ask for one that was given")
    func trusting() throws {
        let server = try PostgreSQLServer.shared.get()
        expectRefusal(try store(server.uri()))
        try OpenStore(server.uri()).set("name", "value")
        // Behind a socket, the user without a password is as good.
        let socket = "postgresql://localdata@/postgres?host=\(server.folder)/postgres&port=\(server.port)"
        try store(socket).set("name", "value")
    }
}
