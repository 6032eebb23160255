/// Why bytes are not decoded as a property list. It contains no value.
package struct PropertyListFault: Error {
    /// The reason, to follow "it" or "the value".
    package let message: String

    /// The deepest nesting of lists and dictionaries, the same as of `JSONDecoder`.
    package static let deepest = 512

    static let damaged = PropertyListFault(message: "is a damaged property list")
    static let circular = PropertyListFault(message: "has a list or a dictionary that is inside of itself")
    static let repeated = PropertyListFault(message: "has values that stand in more places than it has bytes")

    static func tooDeep(_ deepest: Int) -> PropertyListFault {
        PropertyListFault(message: "has more than \(deepest) lists and dictionaries in each other")
    }
}
