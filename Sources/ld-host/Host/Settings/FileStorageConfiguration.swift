/// Where this app's values are within the folders of the file-system domains.
public struct FileStorageConfiguration: Hashable, Sendable {
    /// Separates this app's values from those of others in the same folder; configuration `files.subDirectory`.
    public var subDirectory: String?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(subDirectory: String? = nil) { self.subDirectory = subDirectory }
}
