package import FoundationEssentials
internal import LocalDataAPI

/// What the program says of one command.
package struct ExerciseReport: Codable, Sendable {
    /// How something ended: what came of it, or else the error, and nothing of both if there is no value.
    package struct Ending<Value: Codable & Sendable>: Codable, Sendable {
        package let value: Value?
        package let error: String?
        /// Whether the error says that it may have taken effect.
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

    /// What the migration ended with, in words.
    package var run: Ending<String>?
    /// What an app got that asked for the destination.
    package var got: Ending<Data>?
    /// What was there before anything was gone on with.
    package var before: ExerciseLook?
    /// What is there in the end.
    package var after: ExerciseLook?
    /// What another run ended with, when there was nothing more to do.
    package var again: Ending<String>?
    /// How many calls of that run could have changed a file, as the fault injector counts them.
    package var callsAgain: Int?
    /// How many calls there were when the values were prepared, if the same process did that.
    package var callsBefore: Int?
    /// How many there were when the migration had run, if so.
    package var callsAfter: Int?
}
