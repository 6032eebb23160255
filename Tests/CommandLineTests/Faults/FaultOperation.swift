import FoundationEssentials
import Testing

/// A change that the campaigns disturb, with the values expected before and after it.
struct FaultOperation: Sendable, CustomTestStringConvertible {
    let name: String
    let address: String
    let words: [String]
    var input: [UInt8]?
    /// The value before; `nil` if absent.
    var old: [UInt8]?
    /// The value afterwards; `nil` if absent.
    var new: [UInt8]?
    /// Whether the home is empty before the change.
    var isHomeEmpty = false

    var testDescription: String { name }

    static let sibling = "userDefaults:place/sibling"
    private static let short = "userDefaults:place/key"
    /// So long that its file is in folders of its own.
    private static let long = "userDefaults:place/" + String(repeating: "Long", count: 100)
    private static let text = "the new value"
    private static let old = Array("the old value, which is longer than the new one".utf8)
    /// More than one piece of a streaming write, and no multiple of one.
    private static let large = (0..<300 * 1024 + 7).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }

    static let all = [
        FaultOperation(
            name: "first set in an empty home", address: short, words: ["set", short, text], new: Array(text.utf8),
            isHomeEmpty: true),
        FaultOperation(name: "set", address: short, words: ["set", short, text], new: Array(text.utf8)),
        FaultOperation(
            name: "overwrite", address: short, words: ["set", short, text], old: old, new: Array(text.utf8)),
        FaultOperation(name: "set, long name", address: long, words: ["set", long, text], new: Array(text.utf8)),
        FaultOperation(
            name: "overwrite, long name", address: long, words: ["set", long, text], old: old, new: Array(text.utf8)),
        FaultOperation(
            name: "streaming write", address: short, words: ["set", short, "--stdin"], input: large, old: old,
            new: large),
        FaultOperation(name: "remove", address: short, words: ["rm", short], old: old),
        FaultOperation(name: "remove, long name", address: long, words: ["rm", long], old: old),
    ]

    /// Makes the state before, in a home.
    func prepare(_ home: Home) throws {
        if isHomeEmpty {
            // Inspects the plugins now, so that a point concerns the store only.
            try home.done("doctor")
            return
        }
        try home.done("set", Self.sibling, "sibling")
        if let old { try home.done("set", address, "--stdin", input: old) }
    }
}
