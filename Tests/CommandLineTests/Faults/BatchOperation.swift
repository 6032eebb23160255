import FoundationEssentials
import Testing

/// A batch that the campaigns disturb, with the values stored before and after it.
struct BatchOperation: Sendable, CustomTestStringConvertible {
    let name: String
    /// The domains of the values.
    let domains: [String]

    var testDescription: String { name }

    static let all = [
        BatchOperation(name: "batch in the file store", domains: ["userDefaults"]),
        BatchOperation(name: "batch in the SQLite store", domains: ["fileSystem"]),
        BatchOperation(name: "batch of sealed values in one store", domains: ["keychain:service"]),
        BatchOperation(
            name: "batch across stores",
            domains: ["userDefaults", "fileSystem", "keychain:service", "encryptedFileSystem"]),
    ]

    /// The values stored before, by address.
    var before: [String: String] {
        var values: [String: String] = [:]
        for domain in domains {
            for name in ["stays", "replaced", "removed"] { values["\(domain)/\(name)"] = "old \(name)" }
        }
        return values
    }

    /// The values stored afterwards.
    var after: [String: String] {
        var values = before
        for domain in domains {
            values["\(domain)/replaced"] = "new"
            values["\(domain)/removed"] = nil
            values["\(domain)/made"] = String(repeating: "new ", count: 30_000)
        }
        return values
    }

    /// The changes, in the input format of the command.
    var input: [UInt8] {
        var lines: [String] = []
        for domain in domains {
            lines.append("{\"remove\":\"\(domain)/removed\"}")
            lines.append("{\"remove\":\"\(domain)/never\"}")
            for name in ["replaced", "made"] {
                let address = "\(domain)/\(name)"
                lines.append("{\"set\":\"\(address)\",\"value\":{\"$text\":\"\(after[address] ?? "")\"}}")
            }
        }
        return Array(lines.joined(separator: "\n").utf8)
    }
}
