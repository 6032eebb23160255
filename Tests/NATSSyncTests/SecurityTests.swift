import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("A NATS server with TLS and credentials")
struct SecurityTests {
    private static let tls = "tls { cert_file: \"%f/server.crt\", key_file: \"%f/server.key\", timeout: 10 }"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func password(_ text: String, mode: Int = 0o600) throws -> ComponentOption.Value {
        try folder.write(Data("\(text)\n".utf8), to: "password")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder.path)/password")
        return .string("\(folder.path)/password")
    }

    @Test("is used with a password from a file, and refuses a wrong one")
    func passwords() throws {
        let server = try NATSServer(
            .debian, Self.tls, "authorization { user: ann, password: \"correct horse\" }")
        var options: [String: ComponentOption.Value] = [
            "caFile": .string(server.file("authority.crt")), "user": .string("ann"),
            "passwordFile": try password("correct horse"),
        ]
        let device = try OpenTransport(server.secureURL, options)
        try device.publish(0..<20)
        try device.transport.publish([SyncRecord(writer: "laptop", name: "large", content: Data(count: 1_000_000))])
        #expect(try device.fetch().records.count == 21)

        let open = try OpenTransport(
            server.secureURL, options.merging(["passwordFile": password("correct horse", mode: 0o644)]) { $1 })
        let exposed = #expect(throws: StorageError.self) { try open.fetch() }
        #expect(exposed?.code == .permissionDenied)
        #expect(exposed?.message.contains("\(folder.path)/password") ?? false)

        options["passwordFile"] = try password("wrong horse")
        let stranger = try OpenTransport(server.secureURL, options)
        let error = #expect(throws: StorageError.self) { try stranger.publish(0..<1) }
        #expect(error?.code == .permissionDenied, "\(String(describing: error))")
        #expect(error.map { !"\($0)".contains("horse") } ?? false)
    }

    @Test(
        "is not used with a certificate of another authority or for another name, or without encryption")
    func certificates() throws {
        let server = try NATSServer(.debian, Self.tls)
        for (url, authority, expected) in [
            (server.secureURL, "other", "issuer"), ("tls://127.0.0.1:\(server.port)", "authority", "mismatch"),
            (server.url, "authority", "issuer"),
        ] {
            let device = try OpenTransport(url, ["caFile": .string(server.file("\(authority).crt"))])
            let error = #expect(throws: StorageError.self) { try device.publish(0..<1) }
            #expect(error?.code == .storeUnavailable)
            #expect(error?.message.lowercased().contains(expected) ?? false, "\(String(describing: error))")
        }
    }

    @Test("is not used with a file of certificates that is missing or has none, and the error names the file")
    func files() throws {
        let server = try NATSServer(.debian, Self.tls)
        try folder.write(Data("nothing".utf8), to: "empty.crt")
        let key = ComponentOption.Value.string(server.file("client.key"))
        for (options, file): ([String: ComponentOption.Value], String) in [
            (["caFile": .string("/nowhere/ca.crt")], "/nowhere/ca.crt"),
            (["caFile": .string("\(folder.path)/empty.crt")], "empty.crt"),
            (["certificateFile": .string("/nowhere/my.crt"), "keyFile": key], "/nowhere/my.crt"),
            (["certificateFile": .string("\(folder.path)/empty.crt"), "keyFile": key], "empty.crt"),
            (["certificateFile": .string(server.file("authority.crt")), "keyFile": key], "authority.crt"),
        ] {
            let device = try OpenTransport(
                server.secureURL, ["caFile": .string(server.file("authority.crt"))].merging(options) { $1 })
            let error = #expect(throws: StorageError.self) { try device.fetch() }
            #expect(error?.code == .storeUnavailable)
            #expect(error?.message.contains("\(file)'") ?? false, "\(String(describing: error))")
        }
    }

    @Test("is used with a certificate of the device")
    func clientCertificate() throws {
        let server = try NATSServer(
            .debian,
            "tls { cert_file: \"%f/server.crt\", key_file: \"%f/server.key\", ca_file: \"%f/authority.crt\", verify: true }"
        )
        var options: [String: ComponentOption.Value] = ["caFile": .string(server.file("authority.crt"))]
        let stranger = try OpenTransport(server.secureURL, options)
        let error = #expect(throws: StorageError.self) { try stranger.publish(0..<1) }
        #expect(error?.hint.contains("'certificateFile'") ?? false, "\(String(describing: error))")
        options["certificateFile"] = .string(server.file("client.crt"))
        options["keyFile"] = .string(server.file("client.key"))
        try OpenTransport(server.secureURL, options).publish(0..<1)
    }

    @Test("is used with credentials that an operator's account has signed", arguments: NATSServer.Version.installed)
    func credentials(_ version: NATSServer.Version) throws {
        let credentials = try NATSCredentials()
        let server = try NATSServer(version, credentials.configuration())
        func device(_ text: String, mode: Int = 0o600) throws -> OpenTransport {
            let path = "\(folder.path)/user\(UInt64.random(in: 0 ... .max)).creds"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            return try OpenTransport(server.url, bucket: "shared", ["credentialsFile": .string(path)])
        }
        let user = try credentials.user()
        try device(user).publish(0..<20)
        #expect(try device(try credentials.user()).fetch().records.count == 20)

        for (text, mode) in [(user, 0o644), (try credentials.stranger(), 0o600), ("no credentials", 0o600)] {
            let error = #expect(throws: StorageError.self) { try device(text, mode: mode).fetch() }
            #expect(error?.code == .permissionDenied, "\(String(describing: error))")
            let secrets = user.split(separator: "\n").filter { !$0.hasPrefix("-") }
            #expect(error.map { error in secrets.allSatisfy { !"\(error)".contains($0) } } ?? false)
        }
        let nobody = #expect(throws: StorageError.self) { try OpenTransport(server.url).fetch() }
        #expect(nobody?.code == .permissionDenied, "\(String(describing: nobody))")
    }

    @Test("reports the right that a user lacks")
    func rights() throws {
        let server = try NATSServer(
            .debian,
            "authorization { users: [{ user: ann, password: horse, permissions: { publish: { deny: \"$KV.>\" } } }] }")
        let device = try OpenTransport(server.url, ["user": .string("ann"), "passwordFile": password("horse")])
        #expect(try device.fetch().records.isEmpty)
        let error = #expect(throws: StorageError.self) { try device.publish(0..<1) }
        #expect(error?.code == .permissionDenied)
        #expect(error?.message.contains("$KV.\(device.bucket).laptop.n0") ?? false, "\(String(describing: error))")
    }

    @Test("reports at once that a user may not receive answers")
    func inbox() throws {
        let server = try NATSServer(
            .debian,
            "authorization { users: [{ user: ann, password: horse, permissions: { subscribe: { deny: \"_INBOX.>\" } } }] }"
        )
        let device = try OpenTransport(server.url, ["user": .string("ann"), "passwordFile": password("horse")])
        let error = #expect(throws: StorageError.self) { try device.fetch() }
        #expect(error?.code == .permissionDenied)
        #expect(error?.message.contains("_INBOX") ?? false, "\(String(describing: error))")
    }

    @Test("gives a warning unless it syncs before it acknowledges", arguments: NATSServer.Version.installed)
    func advice(_ version: NATSServer.Version) throws {
        let server = try NATSServer(version)
        for syncsAlways in [false, true] {
            let warnings = Warnings()
            let device = try OpenTransport(server.url, ["syncsAlways": .boolean(syncsAlways)], log: warnings)
            let position = try device.fetch().position
            _ = try device.fetch()
            #expect(warnings.all.count == (version == .current && syncsAlways ? 0 : 1), "\(warnings.all)")
            #expect(warnings.all.allSatisfy { $0.contains("sync_interval: always") })
            // A program that continues has given it before.
            let later = Warnings()
            let other = try OpenTransport(server.url, bucket: device.bucket, log: later)
            _ = try other.fetch(since: position)
            try other.publish(0..<1)
            #expect(later.all.isEmpty, "\(later.all)")
        }
    }
}
