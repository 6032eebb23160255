import CLinux
import Glibc

/// Which folders are in the queue, and what they are to the watches.
struct WatchedFolders {
    typealias Told = (watch: FolderWatch, change: FolderChange)

    /// What a folder is to a watch.
    private enum Role {
        /// It is on the way to the watched folder. If that is missing, then because of this entry.
        case above(missing: [UInt8]?)
        /// It is the watched folder, or one below it by the names of the folders from there.
        case watched(folders: [[UInt8]])
    }

    private struct Interest {
        let watch: FolderWatch
        let role: Role
    }

    /// By the folders' numbers in the queue.
    private var interests: [Int32: [Interest]] = [:]

    /// Puts the folders into the queue that a watch needs now: those on the way, the watched one, and those below. What
    /// it needed before is forgotten.
    ///
    /// - Throws: `SystemCallError`; then some of them are there.
    mutating func follow(_ watch: FolderWatch, _ queue: NotificationQueue) throws {
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
            let mask = isWatched ? NotificationQueue.contents | NotificationQueue.itself : NotificationQueue.itself
            guard let number = try insert(next, mask, isWatched, queue) else {
                // Nothing tells of what is made in a folder that may only be gone through.
                guard let above else { throw SystemCallError(EACCES, "watch the folder", path: path) }
                // From here on its making is told; it may have been made just before.
                let folder = path.isEmpty ? "/" : path
                _ = try queue.insert(folder, NotificationQueue.contents | NotificationQueue.itself)
                if access(next, F_OK) == 0, try queue.insert(next, NotificationQueue.itself) != nil {
                    return try follow(watch, queue)
                }
                interests[above, default: []].removeAll { $0.watch === watch }
                interests[above, default: []].append(Interest(watch: watch, role: .above(missing: piece)))
                return
            }
            // A folder above that may not be read cannot be watched, but gone through.
            if number >= 0 {
                let role = isWatched ? Role.watched(folders: []) : .above(missing: nil)
                interests[number, default: []].append(Interest(watch: watch, role: role))
            }
            above = number < 0 ? nil : number
            if isWatched { _ = try enter(next, [], watch, queue) }
            path = index == 0 ? "" : next
        }
    }

    /// Forgets a watch, and takes folders out of the queue that no other needs.
    mutating func forget(_ watch: FolderWatch, _ queue: NotificationQueue) {
        let before = folders(of: watch)
        for folder in before { interests[folder]?.removeAll { $0.watch === watch } }
        drop(before, queue)
    }

    /// What an event means.
    mutating func changes(by event: NotificationQueue.Event, _ queue: NotificationQueue) -> [Told] {
        if event.has(IN_Q_OVERFLOW) {
            var watches: [ObjectIdentifier: FolderWatch] = [:]
            for interest in interests.values.joined() { watches[ObjectIdentifier(interest.watch)] = interest.watch }
            return watches.values.map { anew($0, queue) }
        }
        let concerned = interests[event.folder] ?? []
        if event.has(IN_IGNORED) { interests[event.folder] = nil }
        return concerned.flatMap { changes(by: event, to: $0, queue) }
    }

    private mutating func changes(
        by event: NotificationQueue.Event, to interest: Interest, _ queue: NotificationQueue
    ) -> [Told] {
        let watch = interest.watch
        if event.has(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) { return [anew(watch, queue)] }
        switch interest.role {
        case .above(let missing):
            return event.name == missing && event.has(IN_CREATE | IN_MOVED_TO) ? [anew(watch, queue)] : []
        case .watched(let folders):
            if event.isOfFolder {
                guard watch.entersFolder(event.name) else { return [] }
                if event.has(IN_MOVED_FROM | IN_MOVED_TO) { return [anew(watch, queue)] }
                guard event.has(IN_CREATE) else { return [] }
                return entered(folders + [event.name], watch, queue)
            }
            // A file that is made in place is not whole yet.
            guard event.has(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE) else { return [] }
            return [(watch, .file(folders: folders, name: event.name))]
        }
    }

    /// Follows a watch's path once more; what stands there now is told with one word.
    private mutating func anew(_ watch: FolderWatch, _ queue: NotificationQueue) -> Told {
        // If the system refuses, e.g. because the user watches too many folders, the ones above are still there.
        try? follow(watch, queue)
        return (watch, .anything)
    }

    /// Watches a folder that was made below the watched one, and tells of what stands in it already.
    private mutating func entered(_ folders: [[UInt8]], _ watch: FolderWatch, _ queue: NotificationQueue) -> [Told] {
        let path = folders.reduce(watch.path) { "\($0)/\(String(decoding: $1, as: UTF8.self))" }
        do {
            // If it is gone, then with whatever was in it.
            guard let number = try queue.insert(path, NotificationQueue.contents) else { return [(watch, .anything)] }
            interests[number, default: []].removeAll { $0.watch === watch }
            interests[number, default: []].append(Interest(watch: watch, role: .watched(folders: folders)))
            return try enter(path, folders, watch, queue).map { (watch, $0) }
        } catch {
            return [(watch, .anything)]
        }
    }

    /// Goes through a folder that is watched: watches those below, and gives the files that are there.
    private mutating func enter(
        _ path: String, _ folders: [[UInt8]], _ watch: FolderWatch, _ queue: NotificationQueue
    ) throws -> [FolderChange] {
        guard let opened = Descriptor(Descriptor.open(path, in: AT_FDCWD, O_RDONLY | O_DIRECTORY)),
            let entries = EntryList(opened)
        else { return [] }
        var found: [FolderChange] = []
        while let entry = try entries.next({ SystemCallError($0, "list", path: path) }) {
            if entry.kind == .regular {
                found.append(.file(folders: folders, name: entry.name))
            } else if entry.kind == .directory, watch.entersFolder(entry.name), folders.count < Self.deepest {
                found += entered(folders + [entry.name], watch, queue).map(\.change)
            }
        }
        return found
    }

    /// - Returns: The folder's number; -1 if it may only be gone through; `nil` if there is none.
    private func insert(_ path: String, _ mask: UInt32, _ isWatched: Bool, _ queue: NotificationQueue) throws -> Int32?
    {
        do {
            return try queue.insert(path, mask)
        } catch let error as SystemCallError where error.code == EACCES && !isWatched {
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

    /// How deep folders below the watched one are gone into.
    private static let deepest = 16
}
