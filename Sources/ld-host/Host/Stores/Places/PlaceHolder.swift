/// An app whose key has the value at an address, and when the value was found and set there, left there as a copy,
/// and removed wherever it was: positions in an order of all that happened on the machine, 0 for never.
struct PlaceHolder: Equatable {
    let app: String
    var found: UInt64 = 0
    var set: UInt64 = 0
    var left: UInt64 = 0
    var removed: UInt64 = 0
    /// Whether it is another key than those of the same owner and name elsewhere.
    var isApart = false
}
