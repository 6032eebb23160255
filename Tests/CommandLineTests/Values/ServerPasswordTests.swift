import Foundation
import TestSupport
import Testing

@Suite("A password that libpq finds by itself")
struct ServerPasswordTests {
    @Test(
        "is not told to a program that listens on a loopback port in the server's place",
        arguments: Impostor.Method.allCases)
    func impostor(_ method: Impostor.Method) throws {
        let listening = try Listening()
        let impostor = try Impostor.start(listening.descriptor, method)
        defer { impostor.end() }
        for source in ["PGPASSWORD", ".pgpass"] {
            let home = try Home()
            let uri = "postgresql://app@127.0.0.1:\(listening.port)/app"
            try home.done("config", "set", "stores.shared", #"{"component":"postgresql","options":{"uri":"\#(uri)"}}"#)
            try home.done("config", "set", "domains.userDefaults", "shared")
            if source == "PGPASSWORD" {
                home.add(source, "hunter2")
            } else {
                try Data("*:*:*:*:hunter2\n".utf8).write(to: URL(filePath: "\(home.path)/\(source)"))
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: "\(home.path)/\(source)")
            }
            let ending = try home.run("get", "userDefaults/theme")
            #expect(ending.status == 2 && ending.errors.contains("allowsUnverifiedServer"), "\(ending.errors)")
            #expect(!ending.errors.contains("hunter2"))
        }
        #expect(impostor.answers == [])
    }
}
