/// A component's id in configurations, a one-line summary, and its options.
public struct ComponentInfo: Sendable {
    /// Lower case letters, digits, `-` and `.`, at most 64 bytes: `file`, or in reverse DNS `org.example.cloud`.
    public let id: String
    /// One line for people.
    public let summary: String
    /// The options that the component accepts; the host refuses any other.
    public let options: [ComponentOption]

    /// Describes a component.
    public init(id: String, summary: String, options: [ComponentOption] = []) {
        self.id = id
        self.summary = summary
        self.options = options
    }
}
