/// A type that says which version of its kind it is.
///
/// ```swift
/// struct UserSettingsV3: Codable, Equatable, VersionedValue {
///     static let version = 3
///     let theme: Theme
/// }
/// ```
///
/// A key with a ``DataMigrator`` stores the version beside each value, as its version tag. A type that does not say its
/// version is known by its name, so it keeps its name for as long as values of it are stored.
public protocol VersionedValue {
    /// The version: no two types of one chain have the same.
    static var version: Int { get }
}
