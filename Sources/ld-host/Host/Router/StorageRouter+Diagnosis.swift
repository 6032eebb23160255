internal import LocalDataAPI

extension Diagnosis {
    /// Looks at everything that a router needs; goes on after a problem where it can.
    ///
    /// - Parameters:
    ///   - repairing: Whether stores first repair what keeps them from being changed.
    ///   - unchecked: The configuration, if it can be read, whether or not it is valid.
    package static func run(
        repairing: Bool = false, of unchecked: HostConfiguration? = nil, _ make: () throws -> StorageRouter
    ) async -> [Finding] {
        do {
            return await findings(of: try await make().engine(), repairing: repairing)
        } catch {
            let error = (error as? StorageError) ?? StorageError(.unknown, "\(error)")
            return await findings(withoutRouter: unchecked, error)
        }
    }

    /// Reads every value of every store and compares it with what was recorded when it was written; opens what a store
    /// seals. Memory for some thousand names at most. Takes as long as reading all takes.
    ///
    /// - Parameter progress: Called after each value with how many there were so far, on any thread.
    package static func scrub(
        _ make: () throws -> StorageRouter, progress: @escaping @Sendable (_ done: Int) -> Void
    ) async -> [Finding] {
        do {
            return try await scrub(make().snapshot(), progress)
        } catch {
            return [
                Finding("the stores cannot be read", (error as? StorageError) ?? StorageError(.unknown, "\(error)"))
            ]
        }
    }
}
