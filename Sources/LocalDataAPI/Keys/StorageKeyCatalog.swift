/// The list of the keys of an app or module, for audit and enforcement.
public protocol StorageKeyCatalog: Sendable {
    /// The catalog's name in reports; the type's name by default.
    var name: String { get }
    /// Every key, including those that were never written.
    var allKeys: [AnyStorageKey] { get }
}

extension StorageKeyCatalog {
    /// The type's name.
    public var name: String { String(describing: type(of: self)) }
}
