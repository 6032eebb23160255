#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The content of a value whose sets, and dictionaries that JSON writes as lists, are in an order of their own: another
/// process would write them in another one.
///
/// Sets are found by reflection, in members that are encoded under their own names.
enum UnorderedContent {
    /// The content with its unordered parts in the order of their bytes.
    static func sorted(_ content: AnyCodable, of value: Any) -> AnyCodable {
        let mirror = Mirror(reflecting: value)
        switch (mirror.displayStyle, content.content) {
        case (.optional, _):
            guard let wrapped = mirror.children.first?.value else { return content }
            return sorted(content, of: wrapped)
        case (.set, .array(let elements)):
            return AnyCodable(zipped(elements, mirror).sorted { text($0).lexicographicallyPrecedes(text($1)) })
        case (.collection, .array(let elements)):
            return AnyCodable(zipped(elements, mirror))
        case (.dictionary, .array(let elements)):
            // Keys and values by turns.
            let pairs = stride(from: 0, to: elements.count - 1, by: 2).map { (elements[$0], elements[$0 + 1]) }
            return AnyCodable(
                pairs.sorted { text($0.0).lexicographicallyPrecedes(text($1.0)) }.flatMap { [$0.0, $0.1] })
        case (.struct, .dictionary(var members)), (.class, .dictionary(var members)):
            for child in mirror.children {
                guard let label = child.label, let member = members[label] else { continue }
                members[label] = sorted(member, of: child.value)
            }
            return AnyCodable(members)
        case (.dictionary, .dictionary(var members)):
            for child in mirror.children {
                let pair = Mirror(reflecting: child.value).children.map(\.value)
                guard pair.count == 2, let member = members["\(pair[0])"] else { continue }
                members["\(pair[0])"] = sorted(member, of: pair[1])
            }
            return AnyCodable(members)
        default: return content
        }
    }

    /// Each element with the value that it is the content of.
    private static func zipped(_ elements: [AnyCodable], _ mirror: Mirror) -> [AnyCodable] {
        let values = mirror.children.map(\.value)
        guard values.count == elements.count else { return elements }
        return zip(elements, values).map { sorted($0, of: $1) }
    }

    private static func text(_ content: AnyCodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(content)) ?? Data()
    }
}
