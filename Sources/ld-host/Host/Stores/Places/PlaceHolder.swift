/// An app whose key has the value at an address, and when the value was found and set there, left there as a copy,
/// and removed wherever it was: positions in an order of all that happened on the machine, 0 for never.
package struct PlaceHolder: Equatable {
    package let app: String
    package var found: UInt64 = 0
    package var set: UInt64 = 0
    package var left: UInt64 = 0
    package var removed: UInt64 = 0
    /// Whether it is another key than those of the same owner and name elsewhere.
    package var isApart = false

    package init(
        app: String, found: UInt64 = 0, set: UInt64 = 0, left: UInt64 = 0, removed: UInt64 = 0, isApart: Bool = false
    ) {
        self.app = app
        self.found = found
        self.set = set
        self.left = left
        self.removed = removed
        self.isApart = isApart
    }
}
