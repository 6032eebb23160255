internal import LocalDataAPI

extension StorageRouter {
    /// Has a diagnosis no longer look for values in a store that served before the configuration was changed.
    ///
    /// - Throws: `notFound` if it is not looked at, or only since it is configured.
    public func forgetFormerStore(_ name: String) async throws {
        let folders = try await snapshot().settings.folders
        try await onIOThread { () throws(StorageError) in try RouteHistory(folders).remove(name) }
    }
}
