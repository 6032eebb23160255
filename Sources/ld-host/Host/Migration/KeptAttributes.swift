internal import LocalDataAPI

/// A value's attributes, as records beside the ledger keep them: one object with the known ones, and whether there are
/// any.
struct KeptAttributes: Codable {
    let attributes: ValueAttributes?

    private enum CodingKeys: CodingKey {
        case isThere
    }

    init(_ attributes: ValueAttributes?) { self.attributes = attributes?.kept }

    init(from decoder: any Decoder) throws {
        let isThere = try decoder.container(keyedBy: CodingKeys.self).decode(Bool.self, forKey: .isThere)
        attributes = isThere ? try ValueAttributes(from: decoder).kept : nil
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(attributes != nil, forKey: .isThere)
        try attributes?.encode(to: encoder)
    }
}
