import DurableFiles
import Synchronization

/// The folders that are in use, so that all keys of a place share one. A folder is closed with its last key.
final class PlaceTable: Sendable {
    private struct Entry {
        weak var directory: DurableDirectory?
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        var sweepAt = 64
    }

    private let state = Mutex(State())

    /// The folder of that path. Compared byte by byte: two spellings of an accented letter are two folders.
    func directory(root: String, folders: [String] = []) throws -> DurableDirectory {
        let new = try DurableDirectory(root: root, folders: folders)
        let path = Array(new.path.utf8)
        return state.withLock { state in
            if let kept = state.entries[path]?.directory { return kept }
            if state.entries.count >= state.sweepAt {
                state.entries = state.entries.filter { $0.value.directory != nil }
                state.sweepAt = max(64, 2 * state.entries.count)
            }
            state.entries[path] = Entry(directory: new)
            return new
        }
    }
}
