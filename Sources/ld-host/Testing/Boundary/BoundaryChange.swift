internal import FoundationEssentials
internal import LocalDataAPI

/// One of many changes as a caller in C gives them.
struct BoundaryChange: Sendable {
    let address: StorageAddress
    /// `nil` removes the value.
    let value: Data?
    var attributes: ValueAttributes?
    /// The mark that the value has to have, 0 if there has to be none; `nil` for whatever there is.
    var mark: UInt64?
}

/// One of many values as a store gives them.
struct BoundaryValue {
    let name: String
    /// `nil` if it was left out.
    let value: Data?
    let attributes: ValueAttributes?
    let mark: UInt64
}
