/// Why bytes are not decoded as a property list. It contains no value.
package struct PropertyListFault: Error {
    /// The reason, to follow "it" or "the value".
    package let message: String

    /// The deepest nesting of lists and dictionaries, the same as of `JSONDecoder`.
    package static let deepest = 512

    static let damaged = PropertyListFault(message: "is a damaged property list")
    static let circular = PropertyListFault(message: "has a list or dictionary that contains itself")
    static let repeated = PropertyListFault(message: "refers to its values more often than it has bytes")

    static func tooDeep(_ deepest: Int) -> PropertyListFault {
        PropertyListFault(message: "nests more than \(deepest) lists and dictionaries")
    }
}
