#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The full address of a stored value: a namespace and a name in it.
///
/// As text it is `domain[:scope]/name`: the domain ends at the first `:` or `/`, the scope at the first `/`, and the
/// rest is the name. `/` and `%` inside a scope are written `%2F` and `%25`.
public struct StorageAddress: Hashable, Sendable {
    /// The longest name, in UTF-8 bytes.
    public static let longestName = 1024

    /// The namespace of the name.
    public let place: StorageNamespace
    /// The key's name: any UTF-8 without NUL, 1 to 1,024 bytes, compared byte for byte.
    public let name: String

    /// Creates an address. It is checked only when it is used.
    public init(_ place: StorageNamespace, name: String) {
        self.place = place
        self.name = name
    }

    /// Compares bytes, so that two encodings of one character are two names.
    public static func == (left: StorageAddress, right: StorageAddress) -> Bool {
        left.name.hasBytes(of: right.name) && left.place == right.place
    }

    /// Hashes the bytes that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(place)
        hasher.combine(ExactText(name))
    }
}

extension String {
    /// Whether another has the same UTF-8 bytes; `==` is also true for two encodings of one character.
    package func hasBytes(of other: String) -> Bool {
        let isEqual = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { other in
                guard own.count == other.count else { return false }
                guard let start = own.baseAddress, let second = other.baseAddress else { return own.isEmpty }
                return start == second || memcmp(start, second, own.count) == 0
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

/// A text that equals another only if the bytes are the same, e.g. as a dictionary's key.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasBytes(of: right.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension StorageAddress: CustomStringConvertible {
    /// The address as text, e.g. `keychain:com.example/token`.
    public var description: String { "\(place)/\(name)" }
}

extension StorageAddress {
    /// Throws `invalidAddress` unless domain, scope and name are within the limits that every store can rely on.
    public func validate() throws(StorageError) {
        try place.validate()
        guard !name.isEmpty else {
            throw StorageError(.invalidAddress, "the name in '\(place)/' is empty", hint: "give the key a name")
        }
        guard name.utf8.count <= Self.longestName else {
            throw StorageError(
                .invalidAddress,
                "the name in '\(place)' has \(name.utf8.count) bytes; expected at most \(Self.longestName)",
                hint: "use a shorter name")
        }
        guard !name.utf8.contains(0) else {
            throw StorageError(.invalidAddress, "the name in '\(place)' contains a NUL byte", hint: "leave it out")
        }
    }

    package static func escaped(scope: String) -> String {
        guard scope.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }) else { return scope }
        return scope.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
    }
}

extension StorageNamespace {
    /// Throws `invalidAddress` unless domain and scope are within their limits.
    public func validate() throws(StorageError) {
        let letters = domain.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard letters, (1...64).contains(domain.utf8.count) else {
            throw StorageError(
                .invalidAddress, "the domain '\(domain)' is invalid",
                hint: "a domain has 1 to 64 letters, digits, '.', '_' or '-'")
        }
        guard scope.utf8.count <= StorageAddress.longestName, !scope.utf8.contains(0) else {
            throw StorageError(
                .invalidAddress, "the scope of a key in '\(domain)' is too long or contains a NUL byte",
                hint: "a scope has at most \(StorageAddress.longestName) bytes and no NUL")
        }
    }
}

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
