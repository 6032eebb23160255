/// Where in the folders of the file-system domains this app's values lie.
public struct FileStorageConfiguration: Hashable, Sendable {
    /// Sets this app's values apart from those of others in the same folder; configuration `files.subDirectory`.
    public var subDirectory: String?

    /// Creates a configuration; `nil` leaves what configuration files say.
    public init(subDirectory: String? = nil) { self.subDirectory = subDirectory }
}
