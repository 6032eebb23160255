internal import FoundationEssentials
internal import LocalDataAPI

/// Sample values for the sources of migrations whose code the kit does not know.
enum PackValue {
    /// Letters of no language, so that a message cannot contain them by chance.
    static let text = "xqzvkjwq7391hbnmtrpl5520gfdsqkxz"

    /// A value of a key in its serializer's format: of the key's type if that is a simple one, otherwise an empty
    /// dictionary.
    static func sample(of key: StorageKeyDescriptor) -> Data {
        // Each value is different, so that a misplaced one is noticed.
        let text = "\(text) \(key.name)"
        return switch key.serializer {
        case .text, .data, .custom: Data(text.utf8)
        case .json: encoded(text, key.valueType, Sample.json) ?? Data("{}".utf8)
        case .plist: encoded(text, key.valueType, Sample.plist) ?? Data()
        }
    }

    private enum Sample { case json, plist }

    private static func encoded(_ text: String, _ type: String, _ form: Sample) -> Data? {
        func encode<Value: Codable & Sendable>(_ value: Value) -> Data? {
            form == .json ? try? Serializer<Value>.json.encode(value) : try? Serializer<Value>.plist.encode(value)
        }
        return switch type {
        case "String": encode(text)
        case "Bool": encode(true)
        case "Int", "Int64", "Int32", "UInt", "UInt64", "UInt32": encode(7)
        case "Double", "Float": encode(1.5)
        case "Array<String>": encode([text])
        case "Data": encode(Data(text.utf8))
        default: encode([String: String]())
        }
    }
}
