import FoundationEssentials
import TestSupport
import Testing

/// A change of sealed values or of keys, which the campaigns disturb.
struct KeyOperation: Sendable, CustomTestStringConvertible {
    /// The effect of a successful operation, besides leaving every other value as it is.
    enum Effect: Sendable {
        /// The value at an address becomes this one, or is removed if `nil`.
        case value(String, [UInt8]?)
        /// One more key.
        case newKey
        /// Another key is active.
        case newActiveKey
        /// The spare key has this state, or is removed if `nil`.
        case spareKey(String?)
        /// No value is sealed with an old key.
        case allUnderActiveKey
    }

    let name: String
    /// The command's arguments; `SPARE` stands for the id of the spare key.
    let words: [String]
    let effect: Effect
    var input: [UInt8]?
    var isHomeEmpty = false
    /// The store with the key ring; `nil` for the master keys.
    var store: String?

    var testDescription: String { name }

    static let all = [
        set("set of a sealed value", "encryptedFileSystem/new", long),
        set("set of a keychain value", "keychain:service/new", short),
        set("overwriting a sealed value", KeyHome.overwritten, short),
        set("overwriting a keychain value", KeyHome.overwrittenSecret, long),
        KeyOperation(
            name: "removing a sealed value", words: ["rm", KeyHome.overwritten],
            effect: .value(KeyHome.overwritten, nil)),
        KeyOperation(name: "keys create", words: ["keys", "create"], effect: .newKey),
        KeyOperation(name: "keys rotate", words: ["keys", "rotate"], effect: .newActiveKey),
        KeyOperation(name: "keys rotate ID", words: ["keys", "rotate", "SPARE"], effect: .spareKey("active")),
        KeyOperation(name: "keys disable", words: ["keys", "disable", "SPARE"], effect: .spareKey("disabled")),
        KeyOperation(name: "keys retire", words: ["keys", "retire", "SPARE"], effect: .spareKey(nil)),
        KeyOperation(name: "reseal", words: ["reseal"], effect: .allUnderActiveKey),
        KeyOperation(
            name: "keys rotate --store", words: ["keys", "rotate", "--store", KeyHome.store], effect: .newActiveKey,
            store: KeyHome.store),
        KeyOperation(
            name: "reseal --store", words: ["reseal", "--store", KeyHome.store], effect: .allUnderActiveKey,
            store: KeyHome.store),
        first("keychain:service/new", short), first("encryptedFileSystem/new", short),
        first("encryptedFileSystem/large", long),
    ]

    private static let short = Array("the new value".utf8)
    private static let long = SeededGenerator.bytes(200_007, seed: 99)

    private static func first(_ address: String, _ value: [UInt8]) -> KeyOperation {
        KeyOperation(
            name: "first set of \(address) in an empty home", words: ["set", address, "--stdin"],
            effect: .value(address, value), input: value, isHomeEmpty: true)
    }

    private static func set(_ name: String, _ address: String, _ value: [UInt8]) -> KeyOperation {
        KeyOperation(
            name: name, words: ["set", address, "--stdin"], effect: .value(address, value), input: value)
    }
}
