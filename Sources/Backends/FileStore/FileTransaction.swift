import DurableFiles
import LocalDataAPI
import Synchronization

/// A transaction under way: what the files were that it has looked at, and its changes, in memory.
package final class FileTransaction: Sendable {
    /// What becomes of a value.
    enum Staged {
        case set([UInt8], FileAttribute?)
        case remove
    }

    /// A value that the transaction has looked at.
    struct Entry {
        let key: FileKey
        /// What it was at the first look.
        let expectation: FileExpectation
        var change: Staged?
    }

    /// Two handles of one address are one value. The folders of a store are shared, so one folder is one object.
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

    /// What the transaction knows of a value; `nil` if it has not looked at it.
    func entry(_ key: FileKey) -> Entry? {
        state.withLock { state in state.indices[Name(key)].map { state.entries[$0] } }
    }

    /// Remembers what a value was at the first look.
    func note(_ key: FileKey, _ expectation: FileExpectation) {
        state.withLock { state in
            let name = Name(key)
            guard state.indices[name] == nil else { return }
            state.indices[name] = state.entries.count
            state.entries.append(Entry(key: key, expectation: expectation, change: nil))
        }
    }

    /// Changes a value that was looked at.
    func stage(_ key: FileKey, _ change: Staged) {
        state.withLock { state in
            if let index = state.indices[Name(key)] { state.entries[index].change = change }
        }
    }

    /// What was looked at and changed, in the order of the first look; nothing of it is kept.
    func end() -> [Entry] {
        state.withLock { state in
            defer { state = State() }
            return state.entries
        }
    }
}
