import DurableFiles
import Synchronization

/// The folders in use, so that all keys of a namespace share one. A folder is closed with its last key.
final class PlaceTable: Sendable {
    private struct Entry {
        weak var directory: DurableDirectory?
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        var sweepAt = 64
        /// The paths of folders that have been in use: leftovers of dead processes are removed there once.
        var cleaned: Set<[UInt8]> = []
    }

    private static let mostCleaned = 10_000

    private let state = Mutex(State())
    private let batches: BatchFolder

    /// The batches of the root, which change its folders.
    init(_ batches: BatchFolder) { self.batches = batches }

    /// The folder with this path. Compared byte by byte: two encodings of an accented letter are two folders.
    func directory(root: String, folders: [String] = []) throws -> DurableDirectory {
        let new = try DurableDirectory(root: root, folders: folders, batches: batches)
        let path = Array(new.path.utf8)
        return state.withLock { state in
            if let kept = state.entries[path]?.directory { return kept }
            if state.entries.count >= state.sweepAt {
                state.entries = state.entries.filter { $0.value.directory != nil }
                state.sweepAt = max(64, 2 * state.entries.count)
            }
            if !state.cleaned.insert(path).inserted { new.skipCleaning() }
            if state.cleaned.count > Self.mostCleaned { state.cleaned = [] }
            state.entries[path] = Entry(directory: new)
            return new
        }
    }
}
