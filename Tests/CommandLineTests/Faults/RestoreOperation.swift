import Glibc
import TestSupport
import Testing

/// A restore that the campaign disturbs, with the values stored before and after it.
struct RestoreOperation: Sendable, CustomTestStringConvertible {
    let name: String
    /// The settings of the home that is restored into: paths and values.
    let settings: [(path: String, value: String)]
    /// The domains of the values.
    let domains: [String]

    var testDescription: String { name }

    private static let sealed = """
        {"component":"file","options":{"root":"${data}/sealed"},"sealing":"keyFile"}
        """

    static let all = [
        RestoreOperation(
            name: "restore into the SQLite store", settings: [("domains.fileSystem", "sqlite")],
            domains: ["userDefaults", "fileSystem"]),
        RestoreOperation(
            name: "restore into the file store", settings: [("domains.userDefaults", "file")],
            domains: ["userDefaults", "fileSystem"]),
        RestoreOperation(
            name: "restore into one sealed store",
            settings: [("stores.sealed", sealed)]
                + ["userDefaults", "fileSystem", "keychain", "encryptedFileSystem"].map { ("domains.\($0)", "sealed") },
            domains: ["userDefaults", "keychain:service", "encryptedFileSystem"]),
        RestoreOperation(
            name: "restore across stores", settings: [],
            domains: ["userDefaults", "fileSystem", "keychain:service", "encryptedFileSystem"]),
    ]

    /// The values in the backup, by address: in the last domain also a value that is copied in pieces.
    var backedUp: [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for (index, domain) in domains.enumerated() {
            values["\(domain)/replaced"] = Array("new".utf8)
            values["\(domain)/made"] = SeededGenerator.bytes(1000, seed: UInt64(index))
            if index == domains.count - 1 {
                values["\(domain)/large"] = SeededGenerator.bytes(1_100_000, seed: UInt64(index))
            }
        }
        return values
    }

    /// The values stored before. Values of `encryptedFileSystem` would have a separate key ring.
    var before: [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for domain in domains where domain != "encryptedFileSystem" {
            values["\(domain)/replaced"] = Array("old".utf8)
            values["\(domain)/stays"] = Array("stays".utf8)
        }
        return values
    }

    /// The values stored afterwards.
    var after: [String: [UInt8]] { before.merging(backedUp) { $1 } }

    /// A home in the state before.
    func home() throws -> Home {
        let home = try Home()
        try home.done("plugins", "list")
        for (path, value) in settings { try home.done("config", "set", path, value) }
        for (address, value) in before { try home.done("set", address, "--stdin", input: value) }
        return home
    }

    func stored(in home: Home) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for domain in domains {
            let names = try home.run("ls", domain.contains(":") ? domain : "\(domain)/")
            guard names.status == 0 else { throw TestFailure("\(domain): \(names.errors)") }
            for line in names.text.split(separator: "\n") {
                let name = String(line.split(separator: "/").last ?? "")
                let value = try home.run("get", "\(domain)/\(name)")
                guard value.status == 0 else { throw TestFailure("\(line): \(value.errors)") }
                found["\(domain)/\(name)"] = value.output
            }
        }
        return found
    }

    /// Staged values that are not in place yet.
    func staged(in home: Home) throws -> [Substring] {
        try home.shell(
            """
            find data -path '*localdata.batch/*' -type f
            for i in $(find data -name '*.sqlite' -o -name '*.db'); do strings $i | grep localdata.batch; done
            """
        ).text.split(separator: "\n").filter { $0.contains("/localdata.batch/") }
    }
}
