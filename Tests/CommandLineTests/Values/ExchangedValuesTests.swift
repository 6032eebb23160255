import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Values that apps and ld-host exchange")
struct ExchangedValuesTests {
    private let home: Home

    init() throws { home = try Home() }

    private func write(_ router: StorageRouter) async throws {
        try await router.set("dark", for: AppKeys.theme)
        try await router.set(7, for: AppKeys.size)
        try await router.set(nil, for: AppKeys.limit)
        try await router.set(Date(timeIntervalSinceReferenceDate: 1.5), for: AppKeys.start)
        try await router.set(["a": 1], for: AppKeys.counts)
        try await router.set(AppKeys.Profile(name: "x"), for: AppKeys.profile)
        try await router.set("{\"not\": json}", for: AppKeys.note)
        try await router.set(Data([0xFF, 0]), for: AppKeys.raw)
        try await router.set("abc", for: AppKeys.own)
    }

    private func check(_ router: StorageRouter) async throws {
        #expect(try await router.get(AppKeys.theme) == "dark")
        #expect(try await router.get(AppKeys.size) == 7)
        #expect(try await router.get(AppKeys.limit) == nil)
        #expect(try await router.get(AppKeys.start) == Date(timeIntervalSinceReferenceDate: 1.5))
        #expect(try await router.get(AppKeys.counts) == ["a": 1])
        #expect(try await router.get(AppKeys.profile) == AppKeys.Profile(name: "x"))
        #expect(try await router.get(AppKeys.note) == "{\"not\": json}")
        #expect(try await router.get(AppKeys.raw) == Data([0xFF, 0]))
        #expect(try await router.get(AppKeys.own) == "abc")
    }

    private static let names = ["theme", "size", "limit", "start", "counts", "profile", "note", "raw", "own"]

    @Test("get prints a value that an app wrote, and set takes it back from standard input", arguments: [false, true])
    func back(_ isDescribed: Bool) async throws {
        if isDescribed { try home.describeKeys() }
        try await write(home.app())
        #expect(try home.done("get", "userDefaults/theme").text == "\"dark\"")
        #expect(try home.done("get", "userDefaults/note").text == "{\"not\": json}")
        for name in Self.names {
            let bytes = try home.done("get", "userDefaults/\(name)").output
            try home.done("rm", "userDefaults/\(name)")
            try home.done("set", "userDefaults/\(name)", "--stdin", input: bytes)
        }
        try await check(home.app())
    }

    @Test("exported values are imported as the same bytes with the same attributes", arguments: [false, true])
    func exported(_ isDescribed: Bool) async throws {
        if isDescribed { try home.describeKeys() }
        try await write(home.app())
        // One as JSON that resembles a tagged object, one as JSON with spaces, and one as text that is not JSON.
        for (name, form, value) in [
            ("marked", "--json", #"{"$text":"x"}"#), ("format", "--json", #"{"$format":"json","$json":1}"#),
            ("spaced", "--json", #"{ "a" : 1 }"#), ("bytes", "--data", "text"), ("number", "--data", "5"),
            ("both", "--text", "5"), ("escaped", "--json", #""\u0041""#),
        ] { try home.done("set", "userDefaults/\(name)", form, "--", value) }
        func all() throws -> [String] {
            try home.done("ls", "userDefaults").text.split(separator: "\n").map { address in
                let lines = try home.done("get", "--json", String(address)).text.split(separator: "\n")
                return lines.filter { !$0.contains("\"modified\"") && !$0.contains("\"owner\"") }.joined()
            }
        }
        let before = try all()
        #expect(before.count == Self.names.count + 7)
        let file = try home.done("export", "userDefaults").output
        try home.done("rm", "--", "userDefaults/theme", "userDefaults/marked", "userDefaults/number")
        try home.done("import", "userDefaults", "-", input: file)
        #expect(try all() == before)
        try await check(home.app())
    }

    @Test("import and batch encode by a catalog's types, and refuse unsuitable values")
    func described() async throws {
        try home.describeKeys()
        let values = #"{"theme": "dark", "note": "plain", "counts": {"a": 1}, "size": {"$text": "7"}}"#
        try home.done("import", "userDefaults", "-", input: Array(values.utf8))
        #expect(try await home.app().get(AppKeys.theme) == "dark")
        #expect(try home.done("get", "userDefaults/note").text == "plain")
        #expect(try await home.app().get(AppKeys.counts) == ["a": 1])
        #expect(try await home.app().get(AppKeys.size) == 7)
        for (words, value) in [
            (["import", "userDefaults", "-"], #"{"theme": "light", "size": "7"}"#),
            (
                ["batch"],
                #"{"set":"userDefaults/theme","value":"light"}"# + "\n" + #"{"set":"userDefaults/size","value":"7"}"#
            ),
        ] {
            let ending = try home.run(BuiltProducts.host, words, input: Array(value.utf8))
            #expect(ending.status == 2)
            #expect(ending.errors.contains("'userDefaults/size' is not of the type 'Int'"), "\(ending.errors)")
        }
        #expect(try await home.app().get(AppKeys.theme) == "dark")
    }
}
