import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("tables and lists of a migration pack in C", .waitsForPrograms) struct PackTableTests {
    /// A way in which the table or the list breaks the rules, and the host's error for it.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let variant: String
        let message: String

        init(_ variant: String, _ message: String) {
            self.variant = variant
            self.message = message
        }

        init(list: String, _ message: String) {
            self.init(
                "PACK_LIST(r,s)=\"\(list.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\""))\"",
                message)
        }

        var testDescription: String { "\(variant.prefix(80)): \(message)" }
    }

    private static let key = #"{"address":"own/a"}"#

    private static let refusals = [
        Refusal("PACK_SIZE=16", "whose table has 16 bytes; expected 88 to 4096, a multiple of 8"),
        Refusal("PACK_SIZE=80", "whose table has 80 bytes; expected 88 to 4096"),
        Refusal("PACK_SIZE=92", "whose table has 92 bytes; expected 88 to 4096"),
        Refusal("PACK_SIZE=4294967280u", "whose table has 4294967280 bytes; expected 88 to 4096"),
        Refusal("PACK_WITHOUT=should_migrate", "without the function 'should_migrate'"),
        Refusal("PACK_WITHOUT=migrate", "without the function 'migrate'"),
        Refusal("PACK_WITHOUT=convert", "without the function 'convert'"),
        Refusal("PACK_NO_LIST", "without its list of migrations"),
        Refusal("PACK_HUGE=((size_t)1<<60)", "without its list of migrations"),
        Refusal("PACK_HUGE=0", "its list of migrations is malformed: not well formed at the top"),
        Refusal(list: "{}", "its list of migrations is malformed: expected Array<Any> at the top"),
        Refusal(list: "[", "its list of migrations is malformed: not well formed at the top"),
        Refusal(list: #"[{"destination":\#(key)}]"#, "no member 'id' at [0]"),
        Refusal(list: #"[{"id":"","destination":\#(key)}]"#, "has at [0] an invalid id"),
        Refusal(list: #"[{"id":"a\\nb","destination":\#(key)}]"#, "has at [0] an invalid id"),
        Refusal(
            list: #"[{"id":"a","destination":\#(key)},{"id":"a","destination":\#(key)}]"#,
            "has at [1] the id 'a' for the second time"),
        Refusal(
            list: #"[{"id":"a","revision":0,"destination":\#(key)}]"#,
            "has at [0] the migration 'a' with the revision 0; expected 1 or more"),
        Refusal(
            list: #"[{"id":"a","destination":{"address":"own/a","serializer":"xml"}}]"#,
            "expected a case of SerializerFormat at [0].destination.serializer"),
        Refusal(
            list: #"[{"id":"a","destination":{"address":"own/a","security":"rot13"}}]"#,
            "a value that its type refuses at [0].destination.security"),
        Refusal(list: #"[{"id":"a","destination":\#(key),"conflictPolicy":"both"}]"#, "at [0].conflictPolicy"),
        Refusal(list: #"[{"id":"a","destination":\#(key),"effect":"none"}]"#, "at [0].effect"),
        Refusal(list: #"[{"id":"a"}]"#, "the migration 'a': its target is not clear"),
        Refusal(
            list: #"[{"id":"a","destination":{"address":"own"}}]"#, "the migration 'a': 'own' has no name"),
        Refusal(
            list: #"[{"id":"a","destination":\#(key),"dependencies":["a"]}]"#,
            "the migration 'a' with the dependency 'a', which is its own or an invalid id"),
        Refusal(
            list: #"[{"id":"a","destination":\#(key),"dependencies":["b"]},"#
                + #"{"id":"b","destination":\#(key),"dependencies":["a"]}]"#,
            "migrations depend on each other in a circle: a -> b -> a"),
        Refusal(
            list: #"[{"id":"a","destination":{"address":"own/a","sync":"manual","availability":"phoneOnly"}}]"#,
            "whose migration 'a' gives 'own/a' the sync policy manual, but the key is phoneOnly"),
        Refusal(
            list: #"[{"id":"a","destination":{"address":"own/a","sync":"always"}}]"#,
            "expected a case of SyncPolicy at [0].destination.sync"),
        Refusal(
            list: #"[{"id":"a","bulk":{"source":{"domain":"own/x"},"destination":{"domain":"own"}}}]"#,
            "the range 'own/x' has a name; expected domain[:scope]"),
    ]

    @Test("a table or a list that is not usable is refused, by file, component and fault", arguments: refusals)
    func refuses(_ refusal: Refusal) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let file = try Self.build(fixture, [refusal.variant])
        let error = try #require(throws: StorageError.self) { try Self.open(file) }
        #expect(error.code == .pluginRefused)
        #expect(error.message.hasPrefix("plugin '\(file)': component 'c-pack'"), "\(error)")
        #expect(error.message.contains(refusal.message), "\(error)")
        #expect(!error.hint.isEmpty)
    }

    @Test("lists of more bytes or migrations than the limits are refused before they are read")
    func huge() {
        let many = (0...1024).map { #"{"id":"\#($0)","destination":{"address":"own/a"}}"# }.joined(separator: ",")
        for (list, message) in [
            ("[\(many)]", "has 1025 migrations; expected at most 1024"),
            ("[" + String(repeating: " ", count: 1 << 20) + "]", "has 1048578 bytes; expected at most 1048576"),
        ] {
            let error = #expect(throws: StorageError.self) { try MigrationDescription.list(Data(list.utf8)) }
            #expect(error?.code == .pluginRefused && error?.message.contains(message) == true, "\(list.count)")
        }
    }

    @Test(
        "optional parts of a pack may be missing, and parts that no host knows yet may be present",
        arguments: ["PACK_NEWER", "PACK_WITHOUT=validate", "PACK_WITHOUT=cancel", "PACK_WITHOUT=close"])
    func takes(_ variant: String) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let pack = try Self.open(try Self.build(fixture, [variant]))
        #expect(pack.list.map(\.id) == ["move", "turn", "remove", "shout"])
        #expect(pack.list.map(\.effect) == [.brings, .brings, .removes, .brings])
        for migration in pack.migrations() { try migration.validate() }
        let bulk = try #require(try pack.bulkMigrations().first)
        #expect(try bulk.convert(Data("text".utf8), named: "a") == Data("TEXT".utf8))
        pack.close()
    }

    static func build(_ fixture: FixtureBuilder, _ variant: [String], as name: String = "libPack.so") throws -> String {
        try fixture.build(variant: variant, as: name, source: "pack.c")
    }

    static func open(_ file: String) throws -> LoadedPack {
        try PluginImage.load(file).openPack(
            "c-pack", options: [:], folder: "/nowhere", timeout: .seconds(10), log: SilentLog())
    }
}
