internal import JSON

/// A JSON value with places that values of keys come to.
indirect enum Template: Sendable {
    /// A place that a part of a source's value comes to.
    struct Reference: Sendable {
        /// Which source.
        let source: Int
        /// Which part of its value.
        let pointer: JSONPointer
        /// What stands for it if the source or the part is not there.
        let fallback: JSON?
    }

    case constant(JSON)
    case reference(Reference)
    case array([Template])
    case object([(name: String, value: Template)])

    /// The places.
    var references: [Reference] {
        switch self {
        case .constant: []
        case .reference(let reference): [reference]
        case .array(let elements): elements.flatMap(\.references)
        case .object(let members): members.flatMap(\.value.references)
        }
    }

    /// The value with every place filled.
    func filled<Failure: Error>(_ find: (Reference) throws(Failure) -> JSON) throws(Failure) -> JSON {
        switch self {
        case .constant(let value): return value
        case .reference(let reference): return try find(reference)
        case .array(let elements):
            var values: [JSON] = []
            for element in elements { values.append(try element.filled(find)) }
            return .array(values)
        case .object(let templates):
            var members: [JSONObject.Member] = []
            for (name, value) in templates {
                members.append(JSONObject.Member(name: name, value: try value.filled(find)))
            }
            return .object(JSONObject(members: members))
        }
    }
}
