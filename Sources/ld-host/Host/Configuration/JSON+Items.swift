internal import JSON

extension JSON {
    var isObject: Bool { if case .object = content { true } else { false } }
    var isArray: Bool { if case .array = content { true } else { false } }

    /// The members of an object, or the elements of an array; an element's name is its index, where its value is.
    var items: [JSONObject.Member] {
        switch content {
        case .object(let object): object.members
        case .array(let elements):
            elements.enumerated().map { JSONObject.Member(name: "\($0)", $1.range, value: $1) }
        default: []
        }
    }

    func member(_ key: String) -> JSONObject.Member? {
        guard isArray else { return items.first { $0.name == key } }
        return ConfigurationPath.index(key).flatMap { $0 < items.count ? items[$0] : nil }
    }

    /// The member at a path that is not empty.
    func member(at path: some Collection<String>) -> JSONObject.Member? {
        guard let first = path.first, let member = member(first) else { return nil }
        let rest = path.dropFirst()
        return rest.isEmpty ? member : member.value.member(at: rest)
    }
}
