package import LocalDataAPI

/// A file on the search path, and what came of looking at it.
package struct PluginRecord: Sendable {
    /// The file.
    package let candidate: PluginSearchPath.Candidate
    /// What the plugin says of itself, or why it was refused.
    package let result: Result<PluginDescription, StorageError>

    /// The description, if the plugin was not refused.
    package var description: PluginDescription? { try? result.get() }

    /// The reason, if it was.
    package var refusal: StorageError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }
}
