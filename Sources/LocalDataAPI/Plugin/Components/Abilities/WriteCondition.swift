/// What a change requires of the stored value at the moment when the store makes it.
public enum WriteCondition: Equatable, Sendable {
    /// No requirement.
    case anything
    /// No value is stored.
    case absent
    /// The stored value has this revision.
    case revision(UInt64)

    /// Whether a stored value with this revision fulfils it; `nil` means that there is no value.
    public func isFulfilled(by revision: UInt64?) -> Bool {
        switch self {
        case .anything: true
        case .absent: revision == nil
        case .revision(let expected): revision == expected
        }
    }
}
