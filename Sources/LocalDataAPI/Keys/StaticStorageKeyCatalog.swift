/// A catalog that its type alone describes, so that `registerCatalog(AppCatalog.self)` registers it. A struct whose
/// members all have values has the initializer.
public protocol StaticStorageKeyCatalog: StorageKeyCatalog {
    /// Creates the catalog.
    init()
}
