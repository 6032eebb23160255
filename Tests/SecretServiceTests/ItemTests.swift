import Foundation
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("Items of the secret service")
struct ItemTests {
    private let session: Session
    private let store: LoadedStore

    init() throws {
        session = try Session(.keyring())
        store = try session.open()
    }

    @Test("have attributes and a label that people recognise")
    func attributes() throws {
        try store.set(
            .secret("com.example", "token"), to: Data("x".utf8),
            attributes: ValueAttributes(contentType: "text/plain", owner: "App"))
        #expect(
            try session.items("com.example", "token") == [
                [
                    "label": "token (com.example)", "service": "com.example", "username": "token",
                    "application": "Python keyring library", "xdg:schema": "org.freedesktop.Secret.Generic",
                    "localdata:attributes": #"{"contentType":"text/plain","owner":"App"}"#,
                    "localdata:collection": "default",
                ]
            ])
    }

    @Test("keep other programs' attributes when the plugin sets a new value")
    func foreignAttributes() throws {
        try session.client("keyring", "set", "service", "user", input: Data("theirs".utf8))
        // gnome-keyring adds the schema by itself, once it has written its file.
        func items() throws -> [[String: String]] {
            try session.items("service", "user").map { $0.filter { $0.key != "xdg:schema" } }
        }
        let before = try items()
        try store.set(.secret("service", "user"), to: Data("ours".utf8))
        #expect(try items() == before)
        try store.set(
            .secret("service", "user"), to: Data("ours".utf8), attributes: ValueAttributes(serializer: "json"))
        var expected = try #require(before.first)
        expected["localdata:attributes"] = #"{"serializer":"json"}"#
        #expect(try items() == [expected])
        #expect(try store.attributes(of: .secret("service", "user"))?.serializer == "json")
    }

    @Test("of one address give the newest value, and a removal removes all of them")
    func several() throws {
        // None of these replaces another: each has an attribute that the others lack.
        for word in ["one", "two", "three"] {
            let end = try session.run(
                "/usr/bin/secret-tool", "store", "--label=\(word)", "service", "service", "username", "user", "word",
                word, input: Data(word.utf8))
            #expect(end.status == 0, "\(end.errors)")
        }
        #expect(try session.items("service", "user").count == 3)
        // All have the same second, so the greater path decides; the change below falls into that second or a later
        // one.
        #expect(try store.get(.secret("service", "user")) == Data("three".utf8))
        try store.set(.secret("service", "user"), to: Data("new".utf8))
        #expect(try store.get(.secret("service", "user")) == Data("new".utf8))
        #expect(try store.names(in: StorageNamespace(domain: "keychain", scope: "service")) == ["user"])
        #expect(try session.items("service", "user").count == 3)
        #expect(try store.remove(.secret("service", "user")))
        #expect(try session.items("service", "user").isEmpty)
        #expect(try !store.remove(.secret("service", "user")))
    }

    @Test("of other domains are not logins, and belong to their own namespaces")
    func domains() throws {
        let place = StorageNamespace(domain: "userDefaults", scope: "service")
        try store.set(StorageAddress(place, name: "user"), to: Data("preference".utf8))
        try store.set(.secret("service", "user"), to: Data("secret".utf8))
        #expect(try session.items("service", "user").count == 1)
        #expect(try store.get(StorageAddress(place, name: "user")) == Data("preference".utf8))
        #expect(try store.get(.secret("service", "user")) == Data("secret".utf8))
        let keychain = StorageNamespace(domain: "keychain", scope: "service")
        #expect(try store.places() == [place, keychain])
        #expect(try store.names(in: place) == ["user"] && store.names(in: keychain) == ["user"])
    }

    @Test(
        "have names of any UTF-8 without NUL, each its own",
        arguments: ["", "a/b", "line\nbreak", "-x", "é", "e\u{301}", " ", "\u{1}", "'\"\\", "*", "日本語"])
    func names(_ text: String) throws {
        let address = StorageAddress.secret(text, "name \(text)")
        try store.set(address, to: Data(text.utf8))
        #expect(try store.get(address) == Data(text.utf8))
        #expect(try store.places() == [address.place])
        #expect(try store.names(in: address.place) == [address.name])
    }

    @Test("are found by namespace and prefix among those of others")
    func prefix() throws {
        for index in 0..<20 { try store.set(.secret("service", "key \(index)"), to: Data()) }
        try session.client("keyring", "set", "service", "other", input: Data("x".utf8))
        try session.client("keyring", "set", "elsewhere", "key 1", input: Data("x".utf8))
        let place = StorageNamespace(domain: "keychain", scope: "service")
        #expect(try store.names(in: place, prefix: "key 1") == ["key 1"] + (10..<20).map { "key \($0)" })
        #expect(try store.names(in: place).count == 21)
    }

    @Test("are in the collection that the options name, and in no other")
    func collections() throws {
        let volatile = try session.open(SecretOptions(collection: "session"))
        try volatile.set(.secret("service", "user"), to: Data("volatile".utf8))
        #expect(try store.get(.secret("service", "user")) == nil)
        try store.set(.secret("service", "user"), to: Data("kept".utf8))
        #expect(try volatile.get(.secret("service", "user")) == Data("volatile".utf8))
        let login = try session.open(SecretOptions(collection: "login"))
        #expect(try login.get(.secret("service", "user")) == Data("kept".utf8))
        let missing = try session.open(SecretOptions(collection: "None Such"))
        #expect(try missing.get(.secret("service", "user")) == nil)
    }

    @Test("are where they were, and not absent, when another collection becomes the default one")
    func otherDefault() throws {
        let session = try Session(.keyring(answers: ["ok:another password"]))
        let store = try session.open()
        let (address, place) = (StorageAddress.secret("service", "user"), StorageNamespace(domain: "userDefaults"))
        try store.set(address, to: Data("value".utf8))
        try store.set(StorageAddress(place, name: "size"), to: Data("12".utf8))
        let other = try session.open(SecretOptions(collection: "New"))
        try other.set(.secret("service", "new"), to: Data("x".utf8))
        // What is in two collections on purpose is no such case.
        try other.set(address, to: Data("another".utf8))
        try session.client("storage", "default", "New")
        for isFresh in [false, true] {
            let store = isFresh ? try session.open() : store
            // This one is in both.
            #expect(try store.get(address) == Data("another".utf8))
            let moved = StorageAddress(place, name: "size")
            let failing: [() throws -> Void] = [
                { _ = try store.get(moved) }, { _ = try store.exists(moved) }, { _ = try store.attributes(of: moved) },
                { _ = try store.remove(moved) }, { try store.set(moved, to: Data("13".utf8)) },
                { _ = try store.names(in: place) }, { _ = try store.places() },
            ]
            for call in failing {
                let error = #expect(throws: StorageError.self) { try call() }
                #expect(error?.code == .keychainError)
                #expect(error?.message.contains("in the collection 'Login' now") == true, "\(error.debugDescription)")
            }
            #expect(try store.get(.secret("service", "never")) == nil)
        }
        try session.client("storage", "default", "Login")
        #expect(try store.get(StorageAddress(place, name: "size")) == Data("12".utf8))
        #expect(try store.names(in: place) == ["size"])
    }

    @Test("refuse options that make no sense", arguments: ["collection", "timeout", "promptTimeout"])
    func options(_ name: String) {
        var options = SecretOptions()
        switch name {
        case "collection": options.collection = ""
        case "timeout": options.timeout = 0
        default: options.promptTimeout = -1
        }
        #expect(throws: StorageError.invalidOptions) { _ = try session.open(options) }
    }
}
