package import FoundationEssentials
internal import LocalDataAPI

/// The program's report of one command.
package struct ExerciseReport: Codable, Sendable {
    /// The result of an operation: a value, or else an error, or neither if there is no value.
    package struct Ending<Value: Codable & Sendable>: Codable, Sendable {
        package let value: Value?
        package let error: String?
        /// Whether the error says that the operation may have taken effect.
        package var isUnknown = false

        init(_ body: () async throws -> Value) async {
            do {
                value = try await body()
                error = nil
            } catch StorageError.notFound {
                value = nil
                error = nil
            } catch {
                value = nil
                self.error = "\(error)"
                isUnknown = (error as? MigrationError)?.underlying?.code == .durabilityUnknown
            }
        }
    }

    /// The outcome of the migration, in words.
    package var run: Ending<String>?
    /// The value that an app read from the destination.
    package var got: Ending<Data>?
    /// The state before anything was resumed.
    package var before: ExerciseLook?
    /// The state in the end.
    package var after: ExerciseLook?
    /// The result of another run, when there was nothing more to do.
    package var again: Ending<String>?
    /// The number of calls of that run that could have changed a file, as the fault injector counts them.
    package var callsAgain: Int?
    /// The number of calls when the values had been prepared, if the same process prepared them.
    package var callsBefore: Int?
    /// The number of calls when the migration had run, if it ran.
    package var callsAfter: Int?
}
