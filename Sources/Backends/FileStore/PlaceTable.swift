import DurableFiles
import LocalDataPluginAPI
import Synchronization

/// The folders in use, so that all keys of a namespace share one. A folder is closed with its last key, or when four
/// others have been in use since.
final class PlaceTable: Sendable {
    private struct Entry {
        weak var directory: DurableDirectory?
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        /// Folders that stay open although no key is in use: the first change in a folder that is opened again makes
        /// the entries of those above it durable, too. The latest comes last.
        var latest: [DurableDirectory] = []
        var sweepAt = 64
        /// The paths of folders that have been in use: leftovers of dead processes are removed there once.
        var cleaned: Set<[UInt8]> = []

        mutating func keepOpen(_ directory: DurableDirectory) {
            guard latest.last !== directory else { return }
            latest.removeAll { $0 === directory }
            if latest.count >= PlaceTable.mostOpen { latest.removeFirst() }
            latest.append(directory)
        }
    }

    private static let mostOpen = 4

    private static let mostCleaned = 10_000

    private let state = Mutex(State())
    private let root: String
    private let batches: BatchFolder

    /// - Parameters:
    ///   - root: The store's root.
    ///   - batches: Its batches, which change the root's folders.
    init(_ root: String, _ batches: BatchFolder) {
        self.root = root
        self.batches = batches
    }

    /// The folder with this path. Compared byte by byte: two encodings of an accented letter are two folders.
    func directory(root: String, folders: [String] = []) throws -> DurableDirectory {
        // A folder of a place's own is that of an app group, perhaps, below one that a Unix group shares.
        let new = try DurableDirectory(
            root: root, folders: folders, isRootPrivate: root == self.root, rule: .secret, batches: batches)
        let path = Array(new.path.utf8)
        return state.withLock { state in
            if let kept = state.entries[path]?.directory {
                state.keepOpen(kept)
                return kept
            }
            if state.entries.count >= state.sweepAt {
                state.entries = state.entries.filter { $0.value.directory != nil }
                state.sweepAt = max(64, 2 * state.entries.count)
            }
            if !state.cleaned.insert(path).inserted { new.skipCleaning() }
            if state.cleaned.count > Self.mostCleaned { state.cleaned = [] }
            state.entries[path] = Entry(directory: new)
            state.keepOpen(new)
            return new
        }
    }
}

/// A resolved address: the namespace's folder and the file's path in it, both ready for system calls.
final class FileKey: Sendable {
    let place: DurableDirectory
    let path: RelativePath
    private let recorded = LastReading<RecordedContent>()
    private let described = LastReading<DescribedContent>()

    init(place: DurableDirectory, path: RelativePath) {
        self.place = place
        self.path = path
    }

    /// The record of an open file with this status.
    func recorded(_ status: FileStatus, of file: borrowing OpenFile) throws -> RecordedContent {
        try recorded.content(status) { try StoredAttributes.recorded(of: file) }
    }

    /// The record of an open file with this status, and the attributes of its value.
    func described(_ status: FileStatus, of file: borrowing OpenFile) throws -> DescribedContent {
        try described.content(status) { try StoredAttributes.described(of: file, status) }
    }
}
