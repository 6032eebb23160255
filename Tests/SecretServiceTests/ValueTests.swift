import Foundation
import LocalDataAPI
import TestSupport
import Testing

@Suite("Values of the secret service")
struct ValueTests {
    /// Values that have broken other secret stores.
    static let values: [String: Data] = [
        "empty": Data(), "leading dash": Data("-rf".utf8), "newline": Data("a\nb".utf8),
        "only a newline": Data("\n".utf8), "return": Data("a\r\nb".utf8), "tab": Data("\ta\tb".utf8),
        "NUL": Data([0]), "NULs within": Data([65, 0, 66, 0]), "not UTF-8": Data([0xFF, 0xFE, 0xC0, 0x80]),
        "every byte": Data((0...255).map { UInt8($0) }), "DEL": Data("\u{7f}".utf8), "C1": Data("a\u{85}b".utf8),
        "backslashes": Data(#"\n\s\t\\ \"#.utf8), "leading space": Data("  a".utf8),
        "trailing space": Data("a ".utf8), "only a space": Data(" ".utf8), "like a group": Data("[keyring]".utf8),
        "like a key": Data("secret=x; y # z".utf8), "accents": Data("é e\u{301} 日本語 👨‍👩‍👧".utf8),
        "mark of order": Data("\u{feff}x".utf8), "like ours": Data(mark.utf8),
        "like ours, not base64": Data("\(mark)*".utf8),
        "somebody's base64": Data("c2VjcmV0".utf8), "somebody's URL": Data("data:text/plain;base64,c2VjcmV0".utf8),
        "one MiB of text": Data(String(repeating: "0123456789abcdef", count: 65536).utf8),
        "one MiB of bytes": Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }),
    ]

    static let mark = "data:application/octet-stream;by=localdata;base64,"

    @Test("come back byte for byte, from another process and after the service was started again")
    func roundTrips() throws {
        let home = try TemporaryFolder()
        do {
            let session = try Session(.keyring(), home: home)
            let store = try session.open()
            for (name, value) in Self.values { try store.set(.secret("values", name), to: value) }
            try check(session)
        }
        try check(Session(.keyring(), home: home))
    }

    private func check(_ session: Session) throws {
        let store = try session.open()
        for (name, value) in Self.values {
            #expect(try store.get(.secret("values", name)) == value, "\(name)")
            #expect(try store.attributes(of: .secret("values", name))?.size == UInt64(value.count), "\(name)")
        }
        let names = try store.names(in: StorageNamespace(domain: "keychain", scope: "values"))
        #expect(Set(names) == Set(Self.values.keys))
    }

    @Test("come back byte for byte from a keyring without a password, whose file cannot hold a newline")
    func plainRoundTrips() throws {
        let home = try TemporaryFolder()
        do {
            let session = try Session(.plainKeyring, home: home)
            for (name, value) in Self.values {
                let end = try session.store("set", "keychain", "values", name, input: value)
                #expect(end.status == 0, "\(name): \(end.errors)")
            }
        }
        let session = try Session(.plainKeyring, home: home)
        for (name, value) in Self.values {
            let end = try session.store("get", "keychain", "values", name)
            #expect(end.status == 0 && end.output == value, "\(name): \(end.status) \(end.errors)")
        }
    }

    @Test(
        "that are printable text are stored unchanged, all others as one printable line",
        arguments: [
            ("printable é", "printable é"), ("", ""), (#"a\b"#, #"a\b"#), ("a\nb", "\(mark)YQpi"),
            ("\u{0}", "\(mark)AA=="),
            (mark, "\(mark)ZGF0YTphcHBsaWNhdGlvbi9vY3RldC1zdHJlYW07Ynk9bG9jYWxkYXRhO2Jhc2U2NCw="),
        ])
    func lines(_ value: String, _ line: String) throws {
        let session = try Session(.keyring())
        try session.open().set(.secret("lines", "name"), to: Data(value.utf8))
        #expect(try session.client("storage", "get", "lines", "name") == Data(line.utf8))
    }

    @Test("above the limit are refused, and the old value stays")
    func tooLarge() throws {
        let session = try Session(.keyring())
        let store = try session.open()
        try store.set(.secret("large", "name"), to: Data("old".utf8))
        #expect(throws: StorageError.valueTooLarge) {
            try store.set(.secret("large", "name"), to: Data(count: 16 << 20 + 1))
        }
        #expect(try store.get(.secret("large", "name")) == Data("old".utf8))
    }

    @Test("never appear on the bus in plain text")
    func encrypted() throws {
        let session = try Session(.keyring())
        let secret = "SECRET-THAT-NOBODY-HEARS"
        // The monitor reports when it listens, and then everything sent until the bus names it again.
        let end = try session.run(
            "/bin/sh", "-c",
            """
            dbus-monitor --binary >"$HOME/heard" & monitor=$!
            until [ -s "$HOME/heard" ]; do dbus-send --dest=org.freedesktop.DBus /x org.freedesktop.DBus.GetId; done
            printf %s \(secret) | "$0" "$1" "$2" set keychain heard name && "$0" "$1" "$2" get keychain heard name
            kill $monitor
            """, try StoreProgram.built.get(), StoreProgram.plugin, SecretOptions().json)
        #expect(end.output == Data(secret.utf8), "\(end.errors)")
        let heard = try Data(contentsOf: URL(filePath: "\(session.home)/heard"))
        #expect(heard.range(of: Data("heard".utf8)) != nil)
        #expect(heard.range(of: Data(secret.utf8)) == nil)
    }
}
