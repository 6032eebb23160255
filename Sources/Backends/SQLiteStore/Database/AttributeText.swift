import LocalDataAPI

/// The attributes that are kept, in the order of their columns.
enum AttributeText {
    /// Lends their bytes for the time of `body`; `nil` for what is unknown.
    static func with(
        _ attributes: ValueAttributes?, _ body: ([UnsafeRawBufferPointer?]) throws -> Void
    ) throws {
        guard let attributes else { return try body([]) }
        let texts = [
            attributes.contentType, attributes.serializer, attributes.versionTag, attributes.appVersion,
            attributes.owner,
        ]
        try lend(texts[...], [], body)
    }

    private static func lend(
        _ texts: ArraySlice<String?>, _ lent: [UnsafeRawBufferPointer?],
        _ body: ([UnsafeRawBufferPointer?]) throws -> Void
    ) throws {
        guard let first = texts.first else { return try body(lent) }
        guard var text = first else { return try lend(texts.dropFirst(), lent + [nil], body) }
        try text.withUTF8 { try lend(texts.dropFirst(), lent + [UnsafeRawBufferPointer($0)], body) }
    }
}
