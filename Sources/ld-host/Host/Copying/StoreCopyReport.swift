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

/// A value that the two stores of a copy have differently.
public struct StoreCopyDifference: Encodable, Sendable {
    /// What becomes of the two values.
    public enum Ending: String, Encodable, Sendable {
        /// The source's was written later: it replaces the destination's.
        case sourceIsLater
        /// The destination's was written later: it stays, and a move removes the source's.
        case destinationIsLater
        /// It is not known which was written later, and the caller has chosen the source's.
        case overwritten
        /// It is not known which was written later, and the caller has chosen the destination's.
        case kept
        /// It is not known which was written later: both stay.
        case undecided
        /// They are keys of the host, which are never replaced, since what they seal would be lost: both stay.
        case separateKeys
    }

    /// The address.
    public let address: String
    /// The source's value.
    public let source: CopyVersion
    /// The destination's value.
    public let destination: CopyVersion
    /// Which of the two counts.
    public let ending: Ending
}

/// What a store knows of one of its values.
public struct CopyVersion: Encodable, Sendable {
    /// When it was written, in nanoseconds since 1970 UTC by the store's clock; `nil` if the store does not keep that.
    public let modified: Int64?
    /// The size in bytes; `nil` if the store does not keep it.
    public let size: UInt64?

    init(_ attributes: ValueAttributes) { (modified, size) = (attributes.modified, attributes.size) }

    private enum CodingKeys: CodingKey {
        case modified, size
    }

    /// Writes the time as text, e.g. `2026-01-31T12:00:00.000000250Z`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(modified.map { JSONTime(nanoseconds: $0) }, forKey: .modified)
        try container.encodeIfPresent(size, forKey: .size)
    }

    /// The time of writing; `nil` if it is not known, or the store keeps whole seconds only: two values may have the
    /// same one.
    var time: Int64? {
        guard let modified, modified % 1_000_000_000 != 0 else { return nil }
        return modified
    }
}
