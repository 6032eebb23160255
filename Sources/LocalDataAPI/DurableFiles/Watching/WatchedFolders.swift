import CLinux
import Glibc
import LocalDataPluginAPI

/// The folders in the queue and their roles in the watches.
struct WatchedFolders {
    typealias Report = (watch: FolderWatch, change: FolderChange)

    /// The role of a folder in a watch.
    private enum Role {
        /// It is above the watched folder. If the watched folder is missing, this entry is the first missing one.
        case above(missing: [UInt8]?)
        /// It is the watched folder, or one below it with this relative path.
        case watched(folders: [[UInt8]])
    }

    private struct Interest {
        let watch: FolderWatch
        let role: Role
    }

    /// By the folders' numbers in the queue.
    private var interests: [Int32: [Interest]] = [:]

    /// Adds the folders that a watch needs now to the queue: those above the watched one, the watched one, and those
    /// below. Forgets those that the watch needed before.
    ///
    /// - Throws: `StorageError`; then some of them are in the queue.
    mutating func follow(_ watch: FolderWatch, _ queue: NotificationQueue) throws(StorageError) {
        let before = folders(of: watch)
        for folder in before { interests[folder]?.removeAll { $0.watch === watch } }
        defer { drop(before, queue) }
        let pieces = watch.path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
        var path = ""
        var above: Int32?
        for (index, piece) in ([[]] + pieces).enumerated() {
            let name = String(decoding: piece, as: UTF8.self)
            let next = index == 0 ? "/" : "\(path)/\(name)"
            let isWatched = index == pieces.count
            let mask = isWatched ? contents(watch) | NotificationQueue.itself : NotificationQueue.itself
            guard let number = try insert(next, mask, isWatched, queue) else {
                // The system reports no events of a folder that this process may only traverse.
                guard let above else { throw StorageError(system: EACCES, "watch the folder", path: path) }
                // From here on its creation is reported; it may have been created just before.
                let folder = path.isEmpty ? "/" : path
                _ = try queue.insert(folder, NotificationQueue.contents | NotificationQueue.itself)
                if access(next, F_OK) == 0, try queue.insert(next, NotificationQueue.itself) != nil {
                    return try follow(watch, queue)
                }
                interests[above, default: []].removeAll { $0.watch === watch }
                interests[above, default: []].append(Interest(watch: watch, role: .above(missing: piece)))
                return
            }
            // A folder above that may not be read cannot be watched, but can be traversed.
            if number >= 0 {
                let role = isWatched ? Role.watched(folders: []) : .above(missing: nil)
                interests[number, default: []].append(Interest(watch: watch, role: role))
            }
            above = number < 0 ? nil : number
            if isWatched { _ = try enter(next, [], watch, queue) }
            path = index == 0 ? "" : next
        }
    }

    /// Forgets a watch, and removes folders from the queue that no other watch needs.
    mutating func forget(_ watch: FolderWatch, _ queue: NotificationQueue) {
        let before = folders(of: watch)
        for folder in before { interests[folder]?.removeAll { $0.watch === watch } }
        drop(before, queue)
    }

    /// The changes that an event stands for.
    mutating func changes(by event: NotificationQueue.Event, _ queue: NotificationQueue) -> [Report] {
        if event.has(IN_Q_OVERFLOW) {
            var watches: [ObjectIdentifier: FolderWatch] = [:]
            for interest in interests.values.joined() { watches[ObjectIdentifier(interest.watch)] = interest.watch }
            return watches.values.map { restart($0, queue) }
        }
        let concerned = interests[event.folder] ?? []
        if event.has(IN_IGNORED) { interests[event.folder] = nil }
        return concerned.flatMap { changes(by: event, to: $0, queue) }
    }

    private mutating func changes(
        by event: NotificationQueue.Event, to interest: Interest, _ queue: NotificationQueue
    ) -> [Report] {
        let watch = interest.watch
        if event.has(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) { return [restart(watch, queue)] }
        switch interest.role {
        case .above(let missing):
            return event.name == missing && event.has(IN_CREATE | IN_MOVED_TO) ? [restart(watch, queue)] : []
        case .watched(let folders):
            if event.isOfFolder {
                guard watch.entersFolder(event.name) else { return [] }
                if event.has(IN_MOVED_FROM | IN_MOVED_TO) { return [restart(watch, queue)] }
                guard event.has(IN_CREATE) else { return [] }
                return entered(folders + [event.name], watch, queue)
            }
            // A file that is created in place is not whole yet.
            let isWritten = watch.includesWrites && event.has(IN_MODIFY | IN_CLOSE_WRITE)
            guard isWritten || event.has(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE) else { return [] }
            return [(watch, .file(folders: folders, name: event.name))]
        }
    }

    /// Follows a watch's path again; reports everything there now as one change.
    private mutating func restart(_ watch: FolderWatch, _ queue: NotificationQueue) -> Report {
        // If the system refuses, e.g. because the user watches too many folders, the folders above are still watched.
        try? follow(watch, queue)
        return (watch, .anything)
    }

    /// Watches a folder that was created below the watched one, and reports what it already contains.
    private mutating func entered(_ folders: [[UInt8]], _ watch: FolderWatch, _ queue: NotificationQueue) -> [Report] {
        let path = folders.reduce(watch.path) { "\($0)/\(String(decoding: $1, as: UTF8.self))" }
        do {
            // If the folder is gone, so is its content.
            guard let number = try queue.insert(path, contents(watch)) else { return [(watch, .anything)] }
            interests[number, default: []].removeAll { $0.watch === watch }
            interests[number, default: []].append(Interest(watch: watch, role: .watched(folders: folders)))
            return try enter(path, folders, watch, queue).map { (watch, $0) }
        } catch {
            return [(watch, .anything)]
        }
    }

    /// Lists a watched folder: watches those below it, and returns its files.
    private mutating func enter(
        _ path: String, _ folders: [[UInt8]], _ watch: FolderWatch, _ queue: NotificationQueue
    ) throws(StorageError) -> [FolderChange] {
        guard let opened = Descriptor(Descriptor.open(path, in: AT_FDCWD, O_RDONLY | O_DIRECTORY)),
            let entries = EntryList(opened)
        else {
            let code = errno
            // Only a folder that is gone has no files. One that cannot be opened, as with too many files open, may.
            guard code == ENOENT || code == ENOTDIR else { throw StorageError(system: code, "list", path: path) }
            return []
        }
        var found: [FolderChange] = []
        while let entry = try entries.next({ StorageError(system: $0, "list", path: path) }) {
            if entry.kind == .regular {
                found.append(.file(folders: folders, name: entry.name))
            } else if entry.kind == .directory, watch.entersFolder(entry.name), folders.count < Self.deepest {
                found += entered(folders + [entry.name], watch, queue).map(\.change)
            }
        }
        return found
    }

    /// The events of a folder whose files a watch reports.
    private func contents(_ watch: FolderWatch) -> UInt32 {
        NotificationQueue.contents | (watch.includesWrites ? NotificationQueue.writes : 0)
    }

    /// - Returns: The folder's number; -1 if it may only be traversed; `nil` if absent.
    private func insert(_ path: String, _ mask: UInt32, _ isWatched: Bool, _ queue: NotificationQueue)
        throws(StorageError) -> Int32?
    {
        do {
            return try queue.insert(path, mask)
        } catch let error where error.systemError == EACCES && !isWatched {
            return -1
        }
    }

    private func folders(of watch: FolderWatch) -> [Int32] {
        interests.filter { $0.value.contains { $0.watch === watch } }.map(\.key)
    }

    private mutating func drop(_ folders: [Int32], _ queue: NotificationQueue) {
        for folder in folders where interests[folder]?.isEmpty ?? false {
            interests[folder] = nil
            queue.remove(folder)
        }
    }

    /// The maximum depth of watched folders below the watched one.
    private static let deepest = 16
}
