import CLinux
import Glibc
public import LocalDataPluginAPI

/// An open file, until it goes out of scope.
///
/// If the file is replaced by name meanwhile, this one still reads the old content.
public struct OpenFile: ~Copyable, Sendable {
    let descriptor: Descriptor
    let location: FileLocation

    init(_ descriptor: consuming Descriptor, at location: FileLocation) {
        self.descriptor = descriptor
        self.location = location
    }

    /// The file's path when it was opened, for people.
    public var path: String { location.description }

    /// The file's status.
    ///
    /// - Throws: `StorageError`, also if it is not a regular file.
    public func status() throws(StorageError) -> FileStatus {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw failure(errno, "inspect") }
        let result = FileStatus(status)
        guard result.kind == .regular else {
            throw StorageError(irregular: result.kind, at: location.description)
        }
        return result
    }

    /// Sets who may read and write it.
    public func setPermissions(_ mode: UInt32) throws(StorageError) {
        guard fchmod(descriptor.number, mode) != 0 else { return }
        let code = errno
        // File systems without modes refuse all, also the one that the file has.
        var status = stat()
        if code == EPERM, fstat(descriptor.number, &status) == 0, status.st_mode & 0o7777 == mode { return }
        throw failure(code, "set the mode of")
    }

    /// Checks that a new file is as its folder's rule says.
    func check(_ directory: DurableDirectory, isShared: Bool) throws(StorageError) {
        if case .any = directory.rule { return }
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw failure(errno, "inspect") }
        try directory.rule.check(status, isShared: isShared, in: directory.path)
    }

    /// Gives it to a user and a group; `false` if this process may not.
    public func setOwner(_ user: UInt32, group: UInt32) -> Bool { fchown(descriptor.number, user, group) == 0 }

    /// An extended attribute; `nil` if the file has none of that name or the file system keeps none. See xattr(7).
    public func attribute(_ name: CString) throws -> [UInt8]? { try withAttribute(name) { Array($0) } }

    /// Lends the bytes of an extended attribute; `nil` if the file has none of that name or the file system keeps none.
    public func withAttribute<Result>(
        _ name: CString, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        var capacity = Self.smallAttribute
        while true {
            var code: Int32 = 0
            let result: Result? = try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
                let size = ld_linux_get_attribute(descriptor.number, name.start, buffer.baseAddress, buffer.count)
                if size >= 0 { return try body(UnsafeRawBufferPointer(rebasing: buffer[..<size])) }
                code = errno
                return nil
            }
            switch code {
            case 0: return result
            case ERANGE where capacity < Self.largestAttribute: capacity = Self.largestAttribute
            case ENODATA, ENOTSUP: return nil
            // A file system, or a rule of the system, that forbids attributes altogether.
            case EPERM: return nil
            case let code: throw failure(code, "read the attributes of")
            }
        }
    }

    /// Sets an extended attribute of a file whose content has been written, if the file system keeps one of that size.
    func setAttribute(_ attribute: FileAttribute, of content: Checksum) throws(StorageError) {
        let value = attribute.value(
            ContentRecord(checksum: content.value, size: content.count, modified: try status().modified ?? 0))
        let result = value.withUnsafeBytes {
            ld_linux_set_attribute(descriptor.number, attribute.name.start, $0.baseAddress, $0.count)
        }
        if result == 0 { return }
        switch errno {
        case ENOTSUP, EPERM, E2BIG, ERANGE: return
        // For a large attribute this means that the file system cannot keep one of that size; for a small one, that the
        // disk is full.
        case ENOSPC where value.count > Self.smallAttribute: return
        case let code: throw failure(code, "set an attribute of")
        }
    }

    /// Writes all bytes at the current position.
    func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor.number, part.baseAddress, part.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                throw failure(count == 0 ? EIO : errno, "write")
            }
        }
    }

    /// Makes the content and the attributes durable.
    func synchronize() throws(StorageError) {
        guard Descriptor.synchronize(descriptor.number) == 0 else { throw failure(errno, "synchronize") }
    }

    func failure(_ code: Int32, _ call: String) -> StorageError {
        StorageError(system: code, call, path: location.description)
    }

    private static let largestAttribute = 1 << 16
    /// The size in bytes of an attribute that every file system with attributes can keep.
    private static let smallAttribute = 1 << 10
}

extension OpenFile {
    /// Passes the whole content to `deliver`, exactly once. The bytes are cleared before their memory is freed.
    ///
    /// If someone edits the file in place meanwhile, it is read again, a few times.
    ///
    /// - Parameters:
    ///   - known: The cached record of the content of a file with this status; `nil` if absent.
    ///   - recorded: The stored record of the content; called if the content does not match the cached one.
    /// - Throws: `corrupt` for content that does not match its record, unless someone edited it; other errors for an
    ///   irregular file, for a file that kept changing (`EAGAIN`), and for one that does not fit in memory (`ENOMEM`).
    @discardableResult
    public func read(
        expecting known: (FileStatus) throws -> ContentRecord? = { _ in nil },
        recorded: () throws -> ContentRecord? = { nil }, _ deliver: (RawSpan) -> Void
    ) throws -> ContentState {
        for _ in 0..<Self.attempts {
            let status = try status()
            let expected = try known(status)
            let state: ContentState?? = try withBytes(status.size) { bytes in
                guard bytes.count == status.size else { return nil }
                if let expected, expected.matches(Checksum(of: bytes)) {
                    deliver(bytes.bytes)
                    return .intact
                }
                if expected != nil || status.size > Self.readAtOnce {
                    let now = try self.status()
                    guard now.isSameContent(as: status) else { return nil }
                }
                let record = expected == nil ? nil : try recorded()
                let state = try record.map { try judge(Checksum(of: bytes), status, $0) } ?? .unrecorded
                deliver(bytes.bytes)
                return state
            }
            guard let state else { throw failure(ENOMEM, "read") }
            if let state { return state }
        }
        throw failure(EAGAIN, "read, because it keeps changing,")
    }

    /// Passes the content in pieces, in order, until `body` returns `false`. The last piece is passed only after the
    /// whole content has matched its record.
    ///
    /// - Throws: As ``read(expecting:_:)``.
    @discardableResult
    public func readPieces(expecting record: ContentRecord? = nil, _ body: (RawSpan) -> Bool) throws(StorageError)
        -> ContentState
    {
        let status = try status()
        var state = ContentState.unrecorded
        if let record {
            state = .intact
            if status.size != record.size { state = try judge(nil, status, record) }
        }
        let capacity = max(1, min(Self.pieceSize, status.size))
        guard let memory = malloc(capacity) else { throw failure(ENOMEM, "read") }
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
        defer {
            explicit_bzero(memory, capacity)
            free(memory)
        }
        var content = Checksum()
        while true {
            let count = try fill(buffer, from: content.count)
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            content.add(piece)
            if let record, state == .intact, count == 0 || content.count >= record.size, !record.matches(content) {
                state = try judge(content, self.status(), record)
            }
            guard count > 0, body(piece.bytes) else { return state }
        }
    }

    /// Classifies content that does not match its record.
    private func judge(_ content: Checksum?, _ status: FileStatus, _ record: ContentRecord) throws(StorageError)
        -> ContentState
    {
        if let content, record.matches(content) { return .intact }
        guard record.isEdited(status) else {
            throw StorageError(
                .corrupt, "'\(location)' is corrupt: its bytes are not those that were stored",
                hint: "restore it from a backup, or set or remove the value; its bytes as they are: cat '\(location)'")
        }
        return .edited
    }

    /// Lends the content if it has the expected size, or one byte more if it is larger; `nil` if there is no memory for
    /// it.
    private func withBytes<Result>(
        _ size: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        // One byte more than expected, so that the same call finds the end.
        let (capacity, isTooLarge) = size.addingReportingOverflow(1)
        guard !isTooLarge, capacity > 0, let memory = malloc(capacity) else { return nil }
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
        var filled = 0
        defer {
            explicit_bzero(memory, filled)
            free(memory)
        }
        while filled < capacity {
            let count = try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), from: filled)
            filled += count
            if count == 0 || filled == size { break }
        }
        return try body(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    }

    /// The piece size in bytes for reading and writing.
    public static let pieceSize = 256 << 10

    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(StorageError) -> Int {
        while true {
            let count = pread(descriptor.number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw failure(errno, "read") }
        }
    }

    /// Up to this size, edits in place are not checked for: the system copies such a piece in one go.
    private static let readAtOnce = 16 << 10
    private static let attempts = 8
}
