/// Where the app's values are within its folders of the file-system domains.
public struct FileStorageConfiguration: Hashable, Sendable {
    /// A folder within those of the app, e.g. one for each of its users; configuration `files.subDirectory`.
    public var subDirectory: String?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(subDirectory: String? = nil) { self.subDirectory = subDirectory }
}
