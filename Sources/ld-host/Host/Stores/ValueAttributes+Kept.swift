internal import LocalDataAPI

extension ValueAttributes {
    /// What is given to a store with a value: all but size and time, which are the store's own.
    var kept: ValueAttributes {
        var attributes = self
        attributes.size = nil
        attributes.modified = nil
        return attributes
    }
}
