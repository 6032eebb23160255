internal import LocalDataAPI

/// Which of two different values counts where it is not known which was written later.
public enum StoreCopyChoice: Sendable {
    /// The source's replaces the destination's.
    case source
    /// The destination's stays, and a move removes the source's.
    case destination
}
