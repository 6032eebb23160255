import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

/// A change of a SQLite database that the campaign disturbs.
struct DatabaseOperation: Sendable, CustomTestStringConvertible {
    typealias Values = [String: Data]

    let name: String
    /// The values before.
    var old: Values = Self.some
    /// The values afterwards.
    let new: Values
    /// Makes the change.
    let run: @Sendable (DatabaseUnderFaults) throws -> Void

    var testDescription: String { "\(name) of a database" }

    private static let some: Values = ["kept": bytes(1, 20), "small": bytes(2, 30), "large": bytes(3, 270_000)]
    private static let large = bytes(4, 300_001)

    static let all = [
        DatabaseOperation(name: "first set", old: [:], new: ["small": bytes(5, 40)]) {
            try $0.set("small", bytes(5, 40))
        },
        DatabaseOperation(name: "set", new: some.merging(["new": bytes(5, 40)]) { $1 }) {
            try $0.set("new", bytes(5, 40))
        },
        DatabaseOperation(name: "overwrite", new: some.merging(["small": bytes(5, 40)]) { $1 }) {
            try $0.set("small", bytes(5, 40))
        },
        DatabaseOperation(name: "overwrite, large by small", new: some.merging(["large": bytes(5, 40)]) { $1 }) {
            try $0.set("large", bytes(5, 40))
        },
        DatabaseOperation(name: "streaming write", new: some.merging(["small": large]) { $1 }) {
            try $0.write("small", large)
        },
        DatabaseOperation(name: "remove", new: some.filter { $0.key != "large" }) { try $0.remove("large") },
        DatabaseOperation(name: "batch", new: ["kept": bytes(1, 20), "small": large, "a": bytes(7, 9), "b": Data()]) {
            try $0.apply([("a", bytes(7, 9)), ("small", large), ("large", nil), ("b", Data()), ("never", nil)])
        },
        DatabaseOperation(name: "transaction", new: ["kept": bytes(8, 9), "small": bytes(2, 30)]) {
            try $0.exchange(set: ("kept", bytes(8, 9)), remove: "large")
        },
    ]

    private static func bytes(_ seed: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 2_654_435_761 >> 11) })
    }
}
