import Foundation
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("Other programs and the plugin")
struct ClientTests {
    private let session: Session
    private let store: LoadedStore

    init() throws {
        session = try Session(.keyring())
        store = try session.open()
    }

    private static let text = Data("p\u{e4}ss w0rd \\ 'x' \"y\" $z".utf8)

    @Test("secret-tool finds a value that the plugin stored")
    func secretToolReads() throws {
        try store.set(.secret("service", "user"), to: Self.text)
        let end = try session.run("/usr/bin/secret-tool", "lookup", "service", "service", "username", "user")
        #expect(end.output == Self.text, "\(end.errors)")
    }

    @Test("the plugin finds secret-tool's value, and secret-tool finds the plugin's new value, in the same item")
    func secretToolWrites() throws {
        let end = try session.run(
            "/usr/bin/secret-tool", "store", "--label=Theirs", "service", "service", "username", "user",
            input: Self.text)
        #expect(end.status == 0, "\(end.errors)")
        try replaceTheirs()
        let lookup = try session.run("/usr/bin/secret-tool", "lookup", "service", "service", "username", "user")
        #expect(lookup.output == Data("ours".utf8))
        #expect(try items().map(\.["label"]) == ["Theirs"])
    }

    @Test("secret-tool replaces a value that the plugin stored, in the same item")
    func secretToolReplaces() throws {
        try store.set(.secret("service", "user"), to: Data("ours".utf8))
        let end = try session.run(
            "/usr/bin/secret-tool", "store", "--label=Theirs", "service", "service", "username", "user",
            input: Self.text)
        #expect(end.status == 0, "\(end.errors)")
        #expect(try store.get(.secret("service", "user")) == Self.text)
        #expect(try items().count == 1)
    }

    @Test("Python's keyring finds, replaces and removes a value that the plugin stored, in the same item")
    func keyring() throws {
        try store.set(.secret("service", "user"), to: Self.text, attributes: ValueAttributes(owner: "somebody"))
        #expect(try session.client("keyring", "get", "service", "user") == Self.text)
        try session.client("keyring", "set", "service", "user", input: Data("theirs".utf8))
        #expect(try store.get(.secret("service", "user")) == Data("theirs".utf8))
        #expect(try items().count == 1)
        try session.client("keyring", "delete", "service", "user")
        #expect(try store.get(.secret("service", "user")) == nil)
    }

    @Test("the plugin finds Python keyring's value, and keyring finds and replaces the new value, in the same item")
    func keyringFirst() throws {
        try session.client("keyring", "set", "service", "user", input: Self.text)
        try replaceTheirs()
        #expect(try session.client("keyring", "get", "service", "user") == Data("ours".utf8))
        try session.client("keyring", "set", "service", "user", input: Data("theirs again".utf8))
        #expect(try store.get(.secret("service", "user")) == Data("theirs again".utf8))
        #expect(try items().count == 1)
    }

    @Test("secret-tool clears a value that the plugin stored, and does not find one that the plugin removed")
    func secretToolClears() throws {
        for isTheirs in [true, false] {
            try store.set(.secret("service", "user"), to: Self.text)
            if isTheirs {
                let end = try session.run("/usr/bin/secret-tool", "clear", "service", "service", "username", "user")
                #expect(end.status == 0, "\(end.errors)")
                #expect(try store.get(.secret("service", "user")) == nil)
            } else {
                #expect(try store.remove(.secret("service", "user")))
                let end = try session.run("/usr/bin/secret-tool", "lookup", "service", "service", "username", "user")
                #expect(end.status == 1 && end.output.isEmpty)
            }
            #expect(try items().isEmpty)
        }
    }

    @Test("the plugin removes values that others stored", arguments: ["keyring", "storage"])
    func removesTheirs(_ library: String) throws {
        try session.client(library, "set", "service", "user", input: Self.text)
        #expect(try items().count == 1)
        #expect(try store.remove(.secret("service", "user")))
        #expect(try items().isEmpty)
    }

    @Test("secretstorage finds a value that the plugin stored, and the plugin finds its bytes")
    func secretStorage() throws {
        try store.set(.secret("service", "user"), to: Self.text)
        #expect(try session.client("storage", "get", "service", "user") == Self.text)
        let bytes = Data([0, 255, 10, 13])
        try session.client("storage", "set", "service", "bytes", input: bytes)
        #expect(try store.get(.secret("service", "bytes")) == bytes)
    }

    @Test("secretstorage replaces and removes a value that the plugin stored, in the same item")
    func secretStorageReplaces() throws {
        try store.set(.secret("service", "user"), to: Data("ours".utf8))
        try session.client("storage", "set", "service", "user", input: Self.text)
        #expect(try store.get(.secret("service", "user")) == Self.text)
        #expect(try items().count == 1)
        try session.client("storage", "delete", "service", "user")
        #expect(try store.get(.secret("service", "user")) == nil)
    }

    @Test("the plugin finds secretstorage's value, and secretstorage finds the new value, in the same item")
    func secretStorageFirst() throws {
        try session.client("storage", "set", "service", "user", input: Self.text)
        try replaceTheirs()
        #expect(try session.client("storage", "get", "service", "user") == Data("ours".utf8))
        #expect(try items().map(\.["label"]) == ["made by another"])
    }

    /// Reads a value that another program has stored, and replaces it.
    private func replaceTheirs() throws {
        #expect(try store.exists(.secret("service", "user")))
        #expect(try store.get(.secret("service", "user")) == Self.text)
        #expect(try store.names(in: StorageNamespace(domain: "keychain", scope: "service")) == ["user"])
        try store.set(.secret("service", "user"), to: Data("ours".utf8))
        #expect(try store.get(.secret("service", "user")) == Data("ours".utf8))
    }

    private func items() throws -> [[String: String]] {
        try session.items("service", "user")
    }
}

extension Session {
    /// Labels and attributes of the items that another program finds.
    func items(_ service: String, _ name: String) throws -> [[String: String]] {
        try client("storage", "items", service, name).split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode([String: String].self, from: Data($0))
        }
    }
}
