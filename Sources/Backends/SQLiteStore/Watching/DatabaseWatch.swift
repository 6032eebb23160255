import Glibc
import LocalDataPluginAPI
import Synchronization

/// A watch on a namespace.
final class DatabaseWatch: Sendable {
    let place: DatabasePlace
    private let prefix: [UInt8]
    private let changed: Mutex<(@Sendable (String?) -> Void)?>
    /// The versions at the last check; `nil` if there were too many, or they could not be read.
    private let seen = Mutex<[[UInt8]: Int64]?>(nil)
    /// Of how many values the versions are kept: some 10 MiB of memory.
    private static let mostSeen = 65_536

    init(place: DatabasePlace, prefix: String, _ changed: @escaping @Sendable (String?) -> Void) {
        self.place = place
        self.prefix = Array(prefix.utf8)
        self.changed = Mutex(changed)
    }

    /// Reports a name, or with `nil` that anything may have changed.
    func tell(_ name: UnsafeRawBufferPointer?) {
        guard let name else { return changed.withLock { $0?(nil) } }
        guard name.starts(with: prefix) else { return }
        changed.withLock { $0?(String(decoding: name, as: UTF8.self)) }
    }

    /// Reports what this process has changed, which is then no difference for a later check.
    func tellOwn(_ name: UnsafeRawBufferPointer) {
        guard name.starts(with: prefix) else { return }
        seen.withLock { seen in
            guard seen != nil else { return }
            // It may be another process's later version: the reader gets that one.
            do { seen?[Array(name)] = try read { try $0.found($1, name) }?.version } catch { seen = nil }
        }
        tell(name)
    }

    /// Sees the versions as they are now.
    func look() { seen.withLock { $0 = versions() } }

    /// Reports each name whose version is not the one seen last, or with `nil` that anything may have changed.
    func tellDifferences() {
        let (before, now) = seen.withLock { seen in
            let before = seen
            seen = versions()
            return (before, seen)
        }
        guard let before, let now else { return tell(nil) }
        for (name, version) in now where before[name] != version { name.withUnsafeBytes { tell($0) } }
        for name in before.keys where now[name] == nil { name.withUnsafeBytes { tell($0) } }
    }

    private func versions() -> [[UInt8]: Int64]? {
        let range = DatabaseNameRange(prefix: String(decoding: prefix, as: UTF8.self), after: nil)
        do {
            let versions = try read { try $0.versions($1, in: range, limit: Self.mostSeen + 1) } ?? [:]
            return versions.count > Self.mostSeen ? nil : versions
        } catch { return nil }
    }

    /// What a query returns; `nil` if there is no database, or no value in the namespace yet.
    private func read<Result>(_ query: (DatabaseConnection, Int64) throws -> Result?) throws -> Result? {
        try place.database.read { connection in
            try place.number(connection).flatMap { try query(connection, $0) }
        } ?? nil
    }

    /// Ends the watch; when this returns, no report is running or will follow.
    func end() { changed.withLock { $0 = nil } }
}
