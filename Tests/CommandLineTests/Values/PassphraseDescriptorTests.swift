import TestSupport
import Testing

@Suite("A passphrase from a descriptor")
struct PassphraseDescriptorTests {
    private func configure(_ home: Home, _ from: String) throws -> Home.Ending {
        let sealing = #"{"source": "passphrase", "from": "\#(from)"}"#
        let store = #"{"component": "file", "options": {"root": "\#(home.path)/own"}, "sealing": \#(sealing)}"#
        return try home.run("config", "set", "stores.own", store)
    }

    @Test("cannot be the standard input, from which values come", arguments: ["fd:0", "fd:1", "fd:2", "fd:-1"])
    func standard(_ from: String) throws {
        let ending = try configure(try Home(), from)
        #expect(ending.status != 0 && ending.errors.contains("fd:N with N of 3 or more"), "\(ending.errors)")
    }

    @Test("must be one that the program was started with", arguments: 3...9)
    func closed(_ number: Int) throws {
        let home = try Home()
        _ = try configure(home, "fd:\(number)")
        try home.done("config", "set", "domains.keychain", "own")
        try home.done("set", "userDefaults/theme", "dark")
        let host = BuiltProducts.host
        let set = "printf value | \(host) set keychain:a/b --stdin \(number)<passphrase"
        #expect(try home.shell("echo passphrase > passphrase; \(set)").status == 0)
        #expect(try home.shell("\(host) get keychain:a/b \(number)<passphrase").text == "value")
        let ending = try home.shell("\(host) get keychain:a/b \(number)<&-")
        #expect(ending.status != 0 && ending.errors.contains("was started without it"), "\(ending.errors)")
    }
}
