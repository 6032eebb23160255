/// The result of comparing a stored value with the record of its last write.
public enum ValueState: UInt32, Hashable, Sendable {
    /// There is no record: an earlier version or another program wrote the value, or its location cannot hold a record.
    case unrecorded = 0
    /// The value is as it was written.
    case intact = 1
    /// Another program edited the value on purpose; it is read as it is now.
    case edited = 2
}
