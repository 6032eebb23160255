internal import LocalDataAPI

/// The kinds of calls to a store, for faults that affect only some of them.
public enum StoreCall: String, CaseIterable, Hashable, Sendable {
    /// Reading a value, whole, in pieces or in bulk.
    case get
    /// Checking whether a value is stored.
    case exists
    /// Storing a value, whole, in pieces, in a batch or in bulk.
    case set
    /// Removing a value.
    case remove
    /// Listing names or namespaces.
    case enumerate
    /// Reading attributes.
    case attributes
}
