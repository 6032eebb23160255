/// Where a store keeps the version of a container's data.
///
/// The default, ``container(_:prefix:)``, belongs to one container. The other forms are those that earlier programs may
/// have used; name them in `formerly` to take their version over:
///
/// ```swift
/// static let versionKey = ContainerVersionKey("MyApp.__version", formerly: ["com.company.MyApp.__version", .shared])
/// ```
public struct ContainerVersionKey: Hashable, Sendable {
    /// The name in the container's store.
    public let name: String
    /// Earlier names, in the order in which they are looked at. Moving the version from one of them and the first
    /// change are committed as one.
    public let formerly: [ContainerVersionKey]

    /// A version key.
    public init(_ name: String, formerly: [ContainerVersionKey] = []) {
        self.name = name
        self.formerly = formerly
    }

    /// `<prefix><name>.__version`: a key for one container.
    public static func container(_ name: String, prefix: String = "") -> ContainerVersionKey {
        ContainerVersionKey("\(prefix)\(name).__version")
    }

    /// `__version`: one key for a whole store. A store with this version key can have only one container. As a former
    /// key it stays where it is, since other containers may have used it too.
    public static let shared = ContainerVersionKey("__version")

    /// `<prefix>__version`.
    public static func prefixed(_ prefix: String) -> ContainerVersionKey { ContainerVersionKey("\(prefix)__version") }

    /// `<prefix>__container_version`.
    public static func containerVersion(_ prefix: String) -> ContainerVersionKey {
        ContainerVersionKey("\(prefix)__container_version")
    }

    /// `__<type>_version`.
    public static func typed(_ name: String) -> ContainerVersionKey { ContainerVersionKey("__\(name)_version") }

    /// The same key with earlier names.
    public func formerly(_ keys: ContainerVersionKey...) -> ContainerVersionKey {
        ContainerVersionKey(name, formerly: formerly + keys)
    }

    /// Whether a name has one of the forms that are reserved for versions.
    public static func isReserved(_ name: String) -> Bool {
        let last =
            name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last ?? name.utf8[...]
        let text = String(Substring(last))
        return text.hasSuffix("__version") || text.hasSuffix("__container_version")
            || text.hasPrefix("__") && text.hasSuffix("_version")
    }

    /// What the keys of the container with a version key begin with, if the name says so: all before `__version`.
    static func stem(of name: String) -> String? {
        for ending in ["__container_version", "__version"] where name.hasSuffix(ending) {
            return name.utf8.count > ending.utf8.count ? String(name.dropLast(ending.count)) : nil
        }
        return nil
    }

    /// Whether several containers may have used it.
    package var isShared: Bool { name == Self.shared.name }
}

extension ContainerVersionKey: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A version key without earlier names.
    public init(stringLiteral name: String) { self.init(name) }

    /// The name.
    public var description: String { name }
}
