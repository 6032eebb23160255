import DurableFiles
import Synchronization

/// What was read of a file's attribute.
protocol AttributeReading: Sendable {
    /// The record of the content, by which a value that does not belong to this reading is noticed.
    var record: ContentRecord? { get }
}

/// What was last read of a file's attribute, for as long as the file is unchanged: to read it again would cost as much
/// as all the rest of reading a value. Waits for no other thread.
struct LastReading<Content: AttributeReading>: ~Copyable, Sendable {
    private let last = Mutex<(status: FileStatus, content: Content)?>(nil)

    /// What was read of a file with this status, or else is read now.
    func content(_ status: FileStatus, _ read: () throws -> Content) throws -> Content {
        let known = last.withLockIfAvailable { last -> Content? in
            guard let last, status.isUnchanged(since: last.status) else { return nil }
            return last.content
        }
        if let known = known ?? nil { return known }
        // The next change of the file, or of another one that gets its number, may leave the same status. Asked before
        // the attribute is read, so that any change after that is seen.
        let isRecent = status.isRecent
        let content = try read()
        if !isRecent, content.record != nil {
            _ = last.withLockIfAvailable { $0 = (status, content) }
        }
        return content
    }
}
