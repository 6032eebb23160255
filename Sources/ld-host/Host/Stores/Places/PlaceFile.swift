internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// The file of ``PlaceHistory``: a JSON object on each line. Processes append at the same time; one that rewrites it
/// locks out the others. Calls may wait.
struct PlaceFile: Hashable, Sendable {
    struct Line: Codable, Sendable {
        let event: PlaceEvent
        let entry: PlaceEntry
    }

    private static let most = 32 << 20
    private static let newline = UInt8(ascii: "\n")

    /// How much of a file is known.
    struct Position: Equatable, Sendable {
        /// Identifies the file that is at the path.
        fileprivate(set) var inode: UInt64 = 0
        /// In bytes.
        fileprivate(set) var offset = 0
    }

    let path: String

    /// The lines from a position on, or all if another file has taken its place; `nil` if there are none. One that was
    /// cut off, or is of a later program, is left out.
    ///
    /// - Returns: Besides, where they end, and whether these are all lines of the file.
    func lines(from position: Position) -> (lines: [Line], end: Position, isWhole: Bool)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let isSame = UInt64(status.st_ino) == position.inode && status.st_size >= position.offset
        guard !isSame || status.st_size > position.offset else { return nil }
        guard let data = HostFile.contents(of: path, ownedByUser: true, limit: Self.most) else { return nil }
        let new = isSame ? data.dropFirst(position.offset) : data[...]
        // A line that another process is appending is read when it is whole.
        guard let last = new.lastIndex(of: Self.newline) else { return nil }
        let decoder = JSONDecoder()
        let lines = new[..<last].split(separator: Self.newline).compactMap { line in
            try? decoder.decode(Line.self, from: Data(line))
        }
        return (lines, Position(inode: UInt64(status.st_ino), offset: last + 1), !isSame || position.offset == 0)
    }

    /// Appends lines. What cannot be appended is left out.
    ///
    /// - Parameter position: How much of the file the caller knows.
    /// - Returns: How much it knows now.
    func append(_ lines: [Line], after position: Position) -> Position {
        let encoder = JSONEncoder()
        var data = Data()
        for line in lines {
            guard let line = try? encoder.encode(line) else { continue }
            data.append(line)
            data.append(Self.newline)
        }
        return withFile(LOCK_SH) { descriptor in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return position }
            // After a power loss the last line may have been cut off.
            let isCut = status.st_size > 0 && !endsWithNewline(descriptor, Int(status.st_size))
            let bytes = isCut ? Data([Self.newline]) + data : data
            // One call, so that lines of two processes are not mixed.
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            // If another process has appended meanwhile, all is read again; that changes nothing.
            guard status.st_size == position.offset, count == bytes.count else { return position }
            return Position(inode: UInt64(status.st_ino), offset: position.offset + count)
        } ?? position
    }

    private func endsWithNewline(_ descriptor: Int32, _ size: Int) -> Bool {
        var byte: UInt8 = 0
        return pread(descriptor, &byte, 1, off_t(size - 1)) == 1 && byte == Self.newline
    }

    /// Replaces the file by lines that say the same, unless it has changed or is in use.
    func replace(with lines: [Line], ifUnchangedSince position: Position) {
        let encoder = JSONEncoder()
        var data = Data()
        for line in lines {
            guard let line = try? encoder.encode(line) else { return }
            data.append(line)
            data.append(Self.newline)
        }
        _ = withFile(LOCK_EX | LOCK_NB) { descriptor in
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_size == position.offset else { return }
            try? HostFile.write(data, to: path)
        }
    }

    /// Calls `body` with the file, locked; `nil` if that cannot be had.
    private func withFile<Result>(_ lock: Int32, _ body: (Int32) -> Result) -> Result? {
        for _ in 0..<8 {
            let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW
            var descriptor = open(path, flags, 0o600)
            if descriptor < 0, errno == ENOENT {
                let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
                try? DurableDirectory(root: HostFile.absolute(folder.joined(separator: "/")), isRootPrivate: true)
                    .make()
                descriptor = open(path, flags, 0o600)
            }
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            while flock(descriptor, lock) != 0 {
                if errno == EINTR { continue }
                // Appending is safe enough where a file system has no locks.
                guard lock == LOCK_SH else { return nil }
                break
            }
            // Another process may have put another file in its place.
            var (own, there) = (stat(), stat())
            guard fstat(descriptor, &own) == 0, stat(path, &there) == 0 else { continue }
            if own.st_ino == there.st_ino, own.st_dev == there.st_dev { return body(descriptor) }
        }
        return nil
    }
}
