internal import DurableFiles
internal import LocalDataPluginAPI
internal import Synchronization

/// An open transaction: the states of the files that it has read, and its changes, in memory.
final class FileTransaction: Sendable {
    /// A staged change.
    enum Staged {
        case set([UInt8], FileAttribute?)
        case remove
    }

    /// A value that the transaction has read or changed.
    struct Entry {
        let key: FileKey
        /// Its state when the transaction first accessed it.
        let expectation: FileExpectation
        var change: Staged?
    }

    /// Two handles of one address are one value. A store's keys share folder objects, so one folder is one object.
    private struct Name: Hashable {
        let place: ObjectIdentifier
        let path: RelativePath.Identity

        init(_ key: FileKey) {
            place = ObjectIdentifier(key.place)
            path = key.path.identity
        }
    }

    private struct State {
        var entries: [Entry] = []
        var indices: [Name: Int] = [:]
    }

    private let state = Mutex(State())

    /// The transaction's entry for a value; `nil` if it has not accessed it.
    func entry(_ key: FileKey) -> Entry? {
        state.withLock { state in state.indices[Name(key)].map { state.entries[$0] } }
    }

    /// Records a value's state at the first access.
    func note(_ key: FileKey, _ expectation: FileExpectation) {
        state.withLock { state in
            let name = Name(key)
            guard state.indices[name] == nil else { return }
            state.indices[name] = state.entries.count
            state.entries.append(Entry(key: key, expectation: expectation, change: nil))
        }
    }

    /// Changes a value that was accessed before.
    func stage(_ key: FileKey, _ change: Staged) {
        state.withLock { state in
            if let index = state.indices[Name(key)] { state.entries[index].change = change }
        }
    }

    /// Returns and forgets all entries, in the order of the first access.
    func end() -> [Entry] {
        state.withLock { state in
            defer { state = State() }
            return state.entries
        }
    }
}
