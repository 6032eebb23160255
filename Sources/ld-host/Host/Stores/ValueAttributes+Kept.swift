internal import LocalDataAPI

extension ValueAttributes {
    /// The attributes to pass to a store with a value: without size and time, which the store determines.
    var kept: ValueAttributes {
        var attributes = self
        attributes.size = nil
        attributes.modified = nil
        return attributes
    }
}
