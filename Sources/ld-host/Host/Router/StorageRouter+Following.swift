internal import HostPlugins
internal import LocalDataAPI

extension StorageRouter {
    /// Makes a call again if its domain went over to another store while it was under way.
    ///
    /// - Parameter call: Resolves its keys itself, and has changed nothing if it throws ``StorageError/superseded``.
    func following<Result>(_ call: () async throws -> Result) async throws -> Result {
        for _ in 0..<Self.mostSwitches {
            do { return try await call() } catch let error as StorageError where error.isSuperseded {
            } catch let error as MigrationError where error.underlying?.isSuperseded == true {}
        }
        return try await call()
    }

    /// How often a store is switched during one call, at most.
    private static let mostSwitches = 32
}

extension StorageError {
    var isSuperseded: Bool { code == StorageError.superseded.code }
}
