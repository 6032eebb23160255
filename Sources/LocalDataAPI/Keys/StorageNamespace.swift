/// A place for names inside a store: a domain and its scope, with every default filled in.
///
/// Two values are the same place if `domain` and `scope` are equal byte for byte; `directory` only says where a store
/// that keeps files should put it.
public struct StorageNamespace: Sendable {
    /// The domain's name: letters, digits, `.`, `_` and `-`, at most 64 bytes.
    public let domain: String
    /// The suite, service, group or folder; any UTF-8 without NUL, at most 1,024 bytes; may be empty.
    public let scope: String
    /// The absolute path of the folder in which a store that keeps files should keep this place, or `nil` for the
    /// store's own choice. Stores of other kinds ignore it.
    public let directory: String?

    /// Creates a place.
    public init(domain: String, scope: String = "", directory: String? = nil) {
        self.domain = domain
        self.scope = scope
        self.directory = directory
    }
}

extension StorageNamespace: Hashable {
    /// Compares the bytes of domain and scope, not their normalised characters.
    public static func == (left: StorageNamespace, right: StorageNamespace) -> Bool {
        left.domain.utf8.elementsEqual(right.domain.utf8) && left.scope.utf8.elementsEqual(right.scope.utf8)
    }

    /// Hashes the bytes that `==` compares.
    public func hash(into hasher: inout Hasher) {
        for text in [domain, scope] {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            hasher.combine(UInt8(0))
        }
    }
}

extension StorageNamespace: CustomStringConvertible {
    /// Domain and scope as an address has them, e.g. `keychain:com.example`.
    public var description: String { scope.isEmpty ? domain : "\(domain):\(StorageAddress.escaped(scope: scope))" }
}
