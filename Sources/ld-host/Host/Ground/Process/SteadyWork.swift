package import LocalDataAPI

/// Work on whole stores, such as a backup; ends with the last reference to it.
///
/// What it has listed would be missing after a switch. So it and switches of the same state folder exclude each other,
/// with what they note there: no program of another state folder does one of the two to the stores of this one.
package final class SteadyWork: Sendable {
    private let hold: SteadyLock.Hold

    /// Begins. May wait.
    ///
    /// - Parameters:
    ///   - folder: The state folder.
    ///   - limit: How long it waits for a switch.
    /// - Throws: `busy` if one takes longer.
    package convenience init(in folder: String, within limit: Duration = .seconds(30)) throws(StorageError) {
        try self.init(SwitchGate.ofUser.steady, in: folder, within: limit)
    }

    init(_ lock: SteadyLock, in folder: String, within limit: Duration) throws(StorageError) {
        hold = try lock.hold(SteadyLock.scope(of: folder), alone: false, until: .now + limit) {
            StorageError(.busy, "process \($0) is switching a store", hint: "wait until it is done")
        }
    }

    /// Runs `body`, during which no store of a state folder is switched.
    ///
    /// - Throws: `busy` if a switch takes too long; what `body` throws.
    package static func run<Result>(
        in folder: String, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let work = try SteadyWork(in: folder)
        defer { withExtendedLifetime(work) {} }
        return try body()
    }
}
