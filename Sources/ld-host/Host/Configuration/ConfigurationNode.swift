import LocalDataAPI

/// One value of a scanned text: where it stands, and for objects and arrays what is in it.
struct ConfigurationNode: Sendable {
    enum Kind: Sendable { case scalar, array, object }

    /// A member of an object, or an element of an array; an element's key is its index and has the value's range.
    struct Member: Sendable {
        var key: String
        var keyRange: Range<Int>
        var value: ConfigurationNode
        /// The offset of the comma behind the value, if there is one.
        var comma: Int?
    }

    var kind: Kind
    /// The bytes of the value, with its brackets or quotes.
    var range: Range<Int>
    var members: [Member] = []

    func member(_ key: String) -> Member? {
        switch kind {
        case .object: members.first { $0.key == key }
        case .array: ConfigurationPath.index(key).flatMap { $0 < members.count ? members[$0] : nil }
        case .scalar: nil
        }
    }

    /// The member at a path that is not empty.
    func member(at path: some Collection<String>) -> Member? {
        guard let first = path.first, let member = member(first) else { return nil }
        let rest = path.dropFirst()
        return rest.isEmpty ? member : member.value.member(at: rest)
    }
}

extension ConfigurationNode {
    /// The value as the toolchain's JSON5 decoder reads it.
    ///
    /// The decoder does not say where it stopped, so after a refusal the scalars are tried one by one to name the
    /// place: what the scanner lets pass and the decoder refuses is always a single number or string.
    func decoded(from bytes: [UInt8], source: String, lines: ConfigurationLines) throws(StorageError) -> JSONValue {
        if let value = JSONValue(decodingJSON5: bytes[range]) { return value }
        let offset = firstRefused(in: bytes) ?? range.lowerBound
        throw ConfigurationFault(offset: offset, message: "expected a value that the JSON5 decoder can represent")
            .located(in: source, lines: lines)
    }

    private func firstRefused(in bytes: [UInt8]) -> Int? {
        if kind == .scalar { return JSONValue(decodingJSON5: bytes[range]) == nil ? range.lowerBound : nil }
        for member in members {
            if let offset = member.value.firstRefused(in: bytes) { return offset }
        }
        return nil
    }
}
