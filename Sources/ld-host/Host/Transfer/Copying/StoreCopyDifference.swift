internal import LocalDataAPI

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
