import FoundationEssentials
import TestSupport
import Testing

/// Two stores of which one leaves the domain of preferences to the other, which the campaigns disturb.
struct SwitchOperation: Sendable, CustomTestStringConvertible {
    let source: String
    let destination: String

    var testDescription: String { "switch from \(source) to \(destination)" }
    var words: [String] { ["store", "switch", SwitchHome.domain, destination, "--unseal"] }
    var usesServer: Bool { [source, destination].contains(SwitchHome.server) }

    /// Each pair.
    static let all = SwitchHome.stores.flatMap { source in
        SwitchHome.stores.filter { $0 != source }.map { SwitchOperation(source: source, destination: $0) }
    }
}

/// A home in which a switch can be tried again and again from the same state.
final class SwitchHome {
    static let domain = "userDefaults"
    static let server = "server"
    static let stores = ["file", "sqlite", "sealed", "vault", server]

    /// Which store serves, and the values that are read.
    struct State: Equatable {
        var store: String
        var values: [String: [UInt8]]
    }

    let operation: SwitchOperation
    let home: Home
    let disturbed: DisturbedHome
    private let database: ServerDatabase?
    /// The values in the state before.
    let values = [
        "userDefaults/a": Array("a value".utf8), "userDefaults/none": [],
        "userDefaults:place/large": SeededGenerator.bytes(150_001, seed: 1),
    ]

    /// - Parameter disk: Of which store's files calls are disturbed, if not of all files.
    init(_ operation: SwitchOperation, disk: String? = nil) throws {
        self.operation = operation
        let home = try Home()
        self.home = home
        database = operation.usesServer ? try ServerDatabase(of: ServerMigrationBench.server.get(), in: home) : nil
        var stores = [
            "sealed": #"{"component": "file", "options": {"root": "\#(home.path)/data/sealed"}, "sealing": "keyFile"}"#,
            "vault":
                #"{"component": "sqlite", "options": {"path": "\#(home.path)/data/vault/v.sqlite"}, "sealing": "keyFile"}"#,
        ]
        if let database {
            stores[Self.server] = #"{"component": "postgresql", "options": {"uri": "\#(database.uri)"}}"#
        }
        for (name, definition) in stores.sorted(by: { $0.key < $1.key }) {
            try home.done("config", "set", "stores.\(name)", definition)
        }
        try home.done("config", "set", "domains.\(Self.domain)", operation.source, "--anyway")
        // Another domain's value, which stays.
        try home.done("set", "fileSystem/other", "stays")
        for (address, value) in values.sorted(by: { $0.key < $1.key }) {
            try home.done("set", address, "--stdin", input: value)
        }
        try home.done("doctor")
        try database?.keep()
        disturbed = try DisturbedHome(home, disturbing: disk.map { [Self.files(of: $0)] }) {
            [words = operation.words] in
            try Self.run(words, in: home, $0)
        }
    }

    /// Runs the command, again if it was refused at once: tests beside this one stop programs of the same user in the
    /// middle of their work, and a switch waits for all of them.
    private static func run(_ words: [String], in home: Home, _ variables: [String: String]) throws -> Home.Ending {
        while true {
            let ending = try home.run(BuiltProducts.host, words, adding: variables)
            let waited = ["has been changing a store for more than", "is migrating, copying", "is switching a store"]
            guard waited.contains(where: ending.errors.contains) else { return ending }
            for log in ["log", "sends"] { try? FileManager.default.removeItem(atPath: "\(home.path)/\(log)") }
        }
    }

    /// Where a store of this machine keeps its values, in the home.
    private static func files(of store: String) -> String {
        ["file": "data/localdata/files", "sqlite": "data/localdata", "vault": "data/vault"][store] ?? "data/\(store)"
    }

    /// The home, with the server's values as before. The files follow when a run begins.
    func prepared() throws -> DisturbedHome {
        try database?.restore()
        return disturbed
    }

    /// Runs the command from the state before, with a message to the server disturbed if one is given. Returns also the
    /// number of messages.
    func run(_ point: ServerMigrationPoint?) throws -> (ending: Home.Ending, messages: Int) {
        try prepared().reset()
        let log = "\(home.path)/sends"
        try? FileManager.default.removeItem(atPath: log)
        var variables = ["LD_PRELOAD": try ServerMigrationBench.library.get(), "LD_SEND_LOG": log]
        if let point {
            variables["LD_SEND_AT"] = String(point.number)
            variables["LD_SEND_MODE"] = point.mode.rawValue
        }
        let ending = try Self.run(operation.words, in: home, variables)
        return (ending, (try? Data(contentsOf: URL(filePath: log)).count { $0 == UInt8(ascii: "\n") }) ?? 0)
    }

    /// What a program finds.
    ///
    /// - Throws: `TestFailure` if a value cannot be read.
    func state() throws -> State {
        let found = try exported()
        let line = try home.run("config", "get", "domains.\(Self.domain)")
        return State(store: line.text.filter { !"\"\n".contains($0) }, values: try values(in: found))
    }

    /// - Parameter variables: For the injector.
    func exported(adding variables: [String: String] = [:]) throws -> Home.Ending {
        try home.run(BuiltProducts.host, ["export", Self.domain], adding: variables)
    }

    /// - Throws: `TestFailure` if a value could not be read.
    func values(in export: Home.Ending) throws -> [String: [UInt8]] {
        guard export.status == 0 else { throw TestFailure("export: \(export.errors)") }
        return try JSONDecoder().decode(Exported.self, from: Data(export.output)).addresses.mapValues(\.bytes)
    }

    /// Whether a disk has a database.
    func usesDatabase(disk store: String) -> Bool { ["sqlite", "vault"].contains(store) }

    /// The values of the domain in a store, whether or not it serves the domain.
    func names(in store: String) throws -> [Substring] {
        let ending = try home.run("ls", Self.domain, "-c", "domains.\(Self.domain)=\(store)")
        guard ending.status == 0 else { throw TestFailure("ls: \(ending.errors)") }
        return ending.text.split(separator: "\n")
    }

    private struct Exported: Decodable {
        let addresses: [String: KeyHome.Entry]

        private enum CodingKeys: String, CodingKey { case addresses = "$addresses" }
    }
}
