internal import LocalDataAPI

extension Diagnosis {
    /// Examines everything that a router needs; continues after a problem where it can.
    ///
    /// - Parameters:
    ///   - repairing: Whether stores first repair damage that blocks changes.
    ///   - unchecked: The configuration, valid or not, if it can be read.
    package static func run(
        repairing: Bool = false, of unchecked: HostConfiguration? = nil, _ make: () throws -> StorageRouter
    ) async -> [Finding] {
        do {
            return await findings(of: try await make().engine(), repairing: repairing)
        } catch {
            let error = StorageError(wrapping: error)
            return await findings(withoutRouter: unchecked, error)
        }
    }

    /// Reads every value of every store and compares it with the record of its last write; opens sealed values. Holds
    /// some thousand names in memory at most. Takes as long as reading everything.
    ///
    /// - Parameter progress: Called after each value with the number so far, on any thread.
    package static func scrub(
        _ make: () throws -> StorageRouter, progress: @escaping @Sendable (_ done: Int) -> Void
    ) async -> [Finding] {
        do {
            return try await scrub(make().snapshot(), progress)
        } catch {
            return [
                Finding("the stores cannot be read", StorageError(wrapping: error))
            ]
        }
    }
}

extension StorageRouter {
    /// Tests that a configured store can be used; see ``StoreTest``.
    ///
    /// - Parameter name: The store's name, or the id of its component.
    /// - Throws: `invalidConfiguration` if there is no such store.
    package func testStore(_ name: String) async throws -> [StoreTest.Step] {
        let snapshot = try await snapshot()
        guard let slot = snapshot.slot(ofStore: name) else {
            throw StorageError(
                .invalidConfiguration, "there is no store '\(name)'",
                hint: "there are: \(snapshot.stores.map(\.settings.name).sorted().joined(separator: ", "))")
        }
        return try await onIOThread { () throws(StorageError) in StoreTest.run(slot) }
    }
}
