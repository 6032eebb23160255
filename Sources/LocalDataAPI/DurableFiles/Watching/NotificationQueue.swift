import CLinux
import Glibc
import LocalDataPluginAPI

/// The system's queue of events in folders; see inotify(7). Used until the process ends.
struct NotificationQueue: Sendable {
    /// An event in a folder, or of the folder itself.
    struct Event {
        /// The folder's number; -1 if the queue overflowed and events were lost.
        let folder: Int32
        let mask: UInt32
        /// The entry in the folder that it concerns, if any.
        let name: [UInt8]
    }

    /// A file appears whole or is removed; folders appear and disappear.
    static let contents = UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE)
    /// A file is written to in place.
    static let writes = UInt32(IN_MODIFY | IN_CLOSE_WRITE)
    /// The folder itself was removed or renamed.
    static let itself = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

    private let descriptor: Int32

    /// Opens a queue.
    ///
    /// - Throws: `StorageError`, with `EMFILE` if the user has as many as the system allows.
    init() throws(StorageError) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw Self.failure(errno, "watch folders with", "inotify") }
    }

    /// Adds the events of a folder to the queue, beside those already watched. One folder has one number, whatever the
    /// path; `nil` if there is no folder.
    ///
    /// - Throws: `StorageError`, with `ENOSPC` if the user watches as many folders as the system allows.
    func insert(_ path: String, _ mask: UInt32) throws(StorageError) -> Int32? {
        let number = inotify_add_watch(descriptor, path, mask | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD))
        if number >= 0 { return number }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return nil }
        throw Self.failure(code, "watch the folder", path)
    }

    /// The error of a failed call, which names the system's limit if it is reached.
    private static func failure(_ number: Int32, _ call: String, _ path: String) -> StorageError {
        let error = StorageError(system: number, call, path: path)
        guard number == ENOSPC || number == EMFILE else { return error }
        let limit = number == ENOSPC ? "fs.inotify.max_user_watches" : "fs.inotify.max_user_instances"
        return StorageError(
            .busy, error.message, hint: "raise \(limit) (sysctl), or watch less at once", cause: error.cause)
    }

    func remove(_ folder: Int32) { _ = inotify_rm_watch(descriptor, folder) }

    /// Waits for events, and takes at most 64 KiB of them; `nil` if someone has closed the queue.
    func next() -> [Event]? {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
            var count = -1
            repeat { count = read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
            guard count >= 0 else { return nil }
            var events: [Event] = []
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            let header = MemoryLayout<inotify_event>.size
            while rest.count >= header {
                let event = rest.loadUnaligned(as: inotify_event.self)
                let name = rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
                events.append(Event(folder: event.wd, mask: event.mask, name: Array(name)))
                rest = UnsafeRawBufferPointer(rebasing: rest[min(rest.count, header + Int(event.len))...])
            }
            return events
        }
    }
}

extension NotificationQueue.Event {
    func has(_ flags: Int32) -> Bool { mask & UInt32(flags) != 0 }

    var isOfFolder: Bool { has(IN_ISDIR) }
}
