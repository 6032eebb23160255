import DurableFiles
import Synchronization

/// A resolved address: the namespace's folder and the file's path in it, both ready for system calls.
package final class FileKey: Sendable {
    let place: DurableDirectory
    let path: RelativePath
    /// The record of the last file read: reading it from the file again would cost as much as all the rest.
    private let last = Mutex<(status: FileStatus, record: ContentRecord)?>(nil)

    init(place: DurableDirectory, path: RelativePath) {
        self.place = place
        self.path = path
    }

    /// The record of the content of a file with this status. Waits for no other thread.
    func record(_ status: FileStatus, _ read: () throws -> ContentRecord?) throws -> ContentRecord? {
        let known = last.withLockIfAvailable { last -> ContentRecord? in
            guard let last, status.isUnchanged(since: last.status) else { return nil }
            return last.record
        }
        if let known = known ?? nil { return known }
        guard let record = try read() else { return nil }
        _ = last.withLockIfAvailable { $0 = (status, record) }
        return record
    }
}
