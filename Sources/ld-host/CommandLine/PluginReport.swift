internal import LocalDataAPI
internal import LocalDataHost

/// A plugin as JSON shows it.
struct PluginReport: Encodable {
    private let path: String
    private let origin: String
    private let plugin: PluginDescription?
    private let refused: String?
    private let hint: String?

    init(_ record: PluginRecord) {
        path = record.candidate.path
        origin = record.candidate.origin
        plugin = record.description
        refused = record.refusal?.message
        hint = record.refusal?.hint
    }

    /// An option's default for people.
    static func text(_ value: ComponentOption.Value) -> String {
        switch value {
        case .string(let text): "\"\(Printable(text))\""
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let value): "\(value)"
        case .list(let elements): "a list of \(elements.count)"
        }
    }
}
