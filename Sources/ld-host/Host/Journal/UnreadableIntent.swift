package import LocalDataAPI

/// A file of the journal that cannot be read as an intent. It stays where it is.
package struct UnreadableIntent: Sendable {
    /// The file.
    package let path: String
    /// Why: `corrupt` if it is damaged, `unsupported` if a newer program wrote it, `fileError` or `permissionDenied` if
    /// the system does not let this process read it.
    package let error: StorageError
}
