internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// The values of properties that are set and not yet stored. A program that ends normally waits for them, for a while;
/// what is not stored then is logged.
enum PendingWrites {
    /// A property with such a value.
    struct Entry: Sendable {
        let address: String
        /// Why the last attempt failed; `nil` while one is under way.
        var failure: String?
        let log: @Sendable (String) -> Void
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// Signalled when no write is under way any more.
        var end: IdleSemaphore?

        var isDone: Bool { entries.values.allSatisfy { $0.failure != nil } }
    }

    private static let state = Mutex(State())
    /// How long the end of a program waits: longer than a disk takes, and shorter than a person waits.
    private static let patience = Duration.seconds(5)
    private static let isArmed: Void = ExitWork.set { waitForAll() }

    /// Called when a value is set.
    ///
    /// - Parameter log: Gets what is to be logged, on the thread that ends the program.
    static func begin<Value>(
        _ property: ObjectIdentifier, of key: StorageKey<Value>, _ log: @escaping @Sendable (String) -> Void
    ) {
        _ = isArmed
        state.withLock { state in
            if let entry = state.entries[property], entry.failure == nil { return }
            state.entries[property] = Entry(address: "\(key.domain)/\(key.name)", failure: nil, log: log)
        }
    }

    /// Called when the last value that was set is stored, or cannot be.
    static func end(_ property: ObjectIdentifier, _ failure: (any Error)? = nil) {
        state.withLock { state in
            if let failure {
                state.entries[property]?.failure = "\(failure)"
            } else {
                state.entries[property] = nil
            }
            if state.isDone { state.end?.signal() }
        }
    }

    /// Called when the property is gone, whose value was perhaps not stored.
    static func abandon(_ property: ObjectIdentifier) {
        guard let entry = state.withLock({ $0.entries.removeValue(forKey: property) }) else { return }
        report(entry)
    }

    private static func waitForAll() {
        let end = IdleSemaphore()
        let isDone = state.withLock { state in
            state.end = end
            return state.isDone
        }
        if !isDone { _ = end.wait(for: patience) }
        for entry in state.withLock({ Array($0.entries.values) }) { report(entry) }
    }

    private static func report(_ entry: Entry) {
        entry.log(
            "'\(entry.address)' was set and is not stored: "
                + (entry.failure ?? "the program ended before it was written"))
    }
}
