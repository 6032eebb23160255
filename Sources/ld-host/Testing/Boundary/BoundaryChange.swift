internal import FoundationEssentials
internal import LocalDataAPI

/// One change of a bulk change, as a C caller passes it.
struct BoundaryChange: Sendable {
    let address: StorageAddress
    /// `nil` removes the value.
    let value: Data?
    var attributes: ValueAttributes?
    /// The mark that the value must have, 0 if there must be no value; `nil` for no requirement.
    var mark: UInt64?
}

/// One value of a bulk read, as a store passes it.
struct BoundaryValue {
    let name: String
    /// `nil` if the store omitted it.
    let value: Data?
    let attributes: ValueAttributes?
    let mark: UInt64
}
