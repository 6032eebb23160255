import FoundationEssentials
import Testing

/// A copy of the keychain's store to another store, which the campaigns disturb.
struct CopyOperation: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether the values leave the source once all of them have arrived.
    let moves: Bool
    /// Whether the destination first has another value at ``KeyHome/overwrittenSecret``.
    let overwrites: Bool

    var testDescription: String { name }

    var words: [String] {
        ["store", "copy", KeyHome.store, Self.destination] + (moves ? ["--move"] : [])
            + (overwrites ? ["--overwrite"] : [])
    }

    static let destination = "second"
    /// The destination's earlier value, if it has one.
    static let older = Array("an older value".utf8)

    static let all = [
        CopyOperation(name: "store copy", moves: false, overwrites: false),
        CopyOperation(name: "store copy --move", moves: true, overwrites: false),
        CopyOperation(name: "store copy --move --overwrite", moves: true, overwrites: true),
    ]
}
