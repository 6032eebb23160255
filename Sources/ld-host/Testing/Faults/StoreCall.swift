/// What is asked of a store, for faults that strike only some of it.
public enum StoreCall: String, CaseIterable, Hashable, Sendable {
    /// Reading a value, whole or in pieces, or many at once.
    case get
    /// Asking whether a value is stored.
    case exists
    /// Storing a value, whole, in pieces, in a batch, or among many changes.
    case set
    /// Removing a value.
    case remove
    /// Listing names or places.
    case enumerate
    /// Asking for attributes.
    case attributes
}
