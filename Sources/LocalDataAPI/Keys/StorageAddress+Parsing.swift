extension StorageAddress {
    /// The parts of an address as text, before defaults are filled in.
    package struct Parts: Equatable, Sendable {
        package let domain: String
        /// `nil` if the text has no `:`.
        package let scope: String?
        /// `nil` if the text has no `/`.
        package let name: String?
    }

    /// Splits `domain[:scope][/name]` into its parts.
    ///
    /// - Throws: `invalidAddress` with the text if the domain is empty, or a `%` in the scope does not start `%2F` or
    ///   `%25`.
    package static func parts(of text: String) throws(StorageError) -> Parts {
        let utf8 = text.utf8
        let slash = utf8.firstIndex(of: UInt8(ascii: "/"))
        let head = utf8[..<(slash ?? utf8.endIndex)]
        let colon = head.firstIndex(of: UInt8(ascii: ":"))
        let domain = String(text[..<(colon ?? head.endIndex)])
        guard !domain.isEmpty else {
            throw StorageError(
                .invalidAddress, "'\(text)' has no domain",
                hint: "write domain[:scope]/name, for example userDefaults/theme")
        }
        var scope: String?
        if let colon { scope = try unescaped(scope: text[utf8.index(after: colon)..<head.endIndex], in: text) }
        let name = slash.map { String(text[utf8.index(after: $0)...]) }
        return Parts(domain: domain, scope: scope, name: name)
    }

    private static func unescaped(scope: Substring, in text: String) throws(StorageError) -> String {
        let pieces = scope.split(separator: "%", omittingEmptySubsequences: false)
        var result = String(pieces[0])
        for piece in pieces.dropFirst() {
            switch piece.prefix(2).uppercased() {
            case "2F": result += "/" + piece.dropFirst(2)
            case "25": result += "%" + piece.dropFirst(2)
            default:
                throw StorageError(
                    .invalidAddress, "the scope in '\(text)' has a '%' that starts neither %2F nor %25",
                    hint: "write % in a scope as %25, and / as %2F")
            }
        }
        return result
    }
}
