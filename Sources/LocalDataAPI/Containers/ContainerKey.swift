/// A key of a container as a step names it.
///
/// A name without a dot is short: `"theme"` stands for the key of the setting `theme`. Any other is the stored key:
/// `"MyApp.MySettings.theme"`. Use ``stored(_:)`` for a stored key without a dot.
public struct ContainerKey: Hashable, Sendable {
    /// The name as given.
    public let text: String
    /// Whether it is the stored key, whatever it contains.
    public let isStored: Bool

    /// A short name, or a stored key with a dot.
    public init(_ text: String) { (self.text, isStored) = (text, text.utf8.contains(UInt8(ascii: "."))) }

    private init(stored text: String) { (self.text, isStored) = (text, true) }

    /// A stored key, e.g. one without a dot.
    public static func stored(_ key: String) -> ContainerKey { ContainerKey(stored: key) }
}

extension ContainerKey: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A short name, or a stored key with a dot.
    public init(stringLiteral text: String) { self.init(text) }

    /// The name as given.
    public var description: String { text }
}
