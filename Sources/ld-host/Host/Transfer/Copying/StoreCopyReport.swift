internal import LocalDataAPI

/// The result of copying one store to another, or the plan for it.
public struct StoreCopyReport: Encodable, Sendable {
    /// The store to copy from.
    public let from: String
    /// The store to copy to.
    public let to: String
    /// The number of values in the source.
    public var total = 0
    /// The number of values that were, or would be, copied.
    public var copied = 0
    /// The number of values that were, or would be, sealed where they are, since both stores keep them there.
    public var sealedInPlace = 0
    /// The number of values that the destination already has, byte for byte.
    public var equal = 0
    /// The values that the two stores had differently when they were compared, and which of the two counts.
    public var differences: [StoreCopyDifference] = []
    /// The addresses whose value was removed from the destination after an earlier run copied it there, while the
    /// source's is as it was. It is not copied again, and stays in the source.
    public var removedSince: [String] = []
    /// The addresses whose value was removed from the source after an earlier run copied it, while the destination's is
    /// as it was: it stays there. Only for a move.
    public var removedFromSource: [String] = []
    /// The number of values that were, or would be, removed from the source.
    public var removed = 0
    /// The host keys that were, or would be, left in the source as well, because the source serves the keychain: the
    /// values that they seal would not open without them.
    public var kept: [String] = []
    /// The addresses of values that other processes changed while they were copied or moved. A changed source or
    /// destination stays as it is.
    public var changed: [String] = []
    /// Values that could not be read, with the reason; they stay where they are.
    public var failures: [String: String] = [:]

    package init(from: String, to: String) {
        self.from = from
        self.to = to
    }

    /// The differences that end in one way.
    public func differences(_ ending: StoreCopyDifference.Ending) -> [StoreCopyDifference] {
        differences.filter { $0.ending == ending }
    }

    /// Whether nothing is left to do or to decide.
    public var isComplete: Bool {
        failures.isEmpty && changed.isEmpty && removedSince.isEmpty
            && differences.allSatisfy { $0.ending != .undecided && $0.ending != .separateKeys }
    }
}
