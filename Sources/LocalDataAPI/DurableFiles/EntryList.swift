import Glibc
internal import LocalDataPluginAPI

/// The entries of an open folder, one by one; see readdir(3).
struct EntryList: ~Copyable {
    private let stream: OpaquePointer
    private let givesHidden: Bool

    /// Takes ownership of a folder; `nil` and `errno` if it cannot be listed.
    ///
    /// - Parameter hidden: Whether to include names that start with `.`.
    init?(_ folder: consuming Descriptor, hidden: Bool = false) {
        guard let stream = fdopendir(folder.number) else { return nil }
        _ = folder.release()
        self.stream = stream
        givesHidden = hidden
    }

    deinit { closedir(stream) }

    /// The next entry, except for `.` and `..`; `nil` at the end.
    borrowing func next(_ failure: (Int32) -> StorageError) throws(StorageError) -> (name: [UInt8], kind: FileKind)? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno == 0 { return nil }
                throw failure(errno)
            }
            let start = UnsafeRawPointer(entry).advanced(by: Self.nameOffset).assumingMemoryBound(to: CChar.self)
            let name = UnsafeRawBufferPointer(start: start, count: strlen(start))
            if name.first == UInt8(ascii: ".") {
                guard givesHidden, !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) else { continue }
            }
            return (Array(name), kind(of: entry, start))
        }
    }

    private borrowing func kind(of entry: UnsafePointer<dirent>, _ name: UnsafePointer<CChar>) -> FileKind {
        switch Int(entry.pointee.d_type) {
        case Int(DT_REG): return .regular
        case Int(DT_DIR): return .directory
        case Int(DT_LNK): return .symbolicLink
        case Int(DT_UNKNOWN):
            var status = stat()
            guard fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .unknown }
            return FileKind(mode: status.st_mode)
        default: return .unknown
        }
    }

    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
}
