/// A namespace for names inside a store: a domain and its scope, with every default filled in.
///
/// Two namespaces are equal if `domain` and `scope` are equal byte for byte; `directory` only says where a store that
/// keeps files should put them.
public struct StorageNamespace: Sendable {
    /// The domain's name: letters, digits, `.`, `_` and `-`, at most 64 bytes.
    public let domain: String
    /// The suite, service, group or folder; any UTF-8 without NUL, at most 1,024 bytes; may be empty.
    public let scope: String
    /// The absolute path of the folder for a store that keeps files, or `nil` if the store chooses. Other stores ignore
    /// it.
    public let directory: String?

    /// Creates a namespace.
    public init(domain: String, scope: String = "", directory: String? = nil) {
        self.domain = domain
        self.scope = scope
        self.directory = directory
    }
}

extension StorageNamespace: Hashable {
    /// Compares the bytes of domain and scope, without Unicode normalization.
    public static func == (left: StorageNamespace, right: StorageNamespace) -> Bool {
        left.domain.hasBytes(of: right.domain) && left.scope.hasBytes(of: right.scope)
    }

    /// Hashes the bytes that `==` compares.
    public func hash(into hasher: inout Hasher) {
        for text in [domain, scope] {
            hasher.combine(ExactText(text))
            hasher.combine(UInt8(0))
        }
    }
}

extension StorageNamespace: CustomStringConvertible {
    /// Domain and scope as in an address, e.g. `keychain:com.example`.
    public var description: String { scope.isEmpty ? domain : "\(domain):\(StorageAddress.escaped(scope: scope))" }
}
