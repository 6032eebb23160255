/// The path of a file below a ``DurableDirectory``, ready for system calls.
public final class RelativePath: Sendable {
    /// The whole path.
    let text: CString
    /// The file's own name.
    let name: CString
    /// The parent folders, outermost first; empty for a file in the directory itself.
    let folders: [Folder]

    /// A parent folder.
    struct Folder: Sendable {
        /// Its path from the directory.
        let path: CString
        /// Its own name.
        let name: CString
    }

    /// Takes the names of the parent folders and of the file. None may be empty, `.`, `..` or contain a `/`.
    public init(pieces: some Collection<some Collection<UInt8>>) {
        var path: [UInt8] = []
        var folders: [Folder] = []
        var last: [UInt8] = []
        for piece in pieces {
            if !path.isEmpty {
                folders.append(Folder(path: CString(path), name: CString(last)))
                path.append(UInt8(ascii: "/"))
            }
            path += piece
            last = Array(piece)
        }
        text = CString(path)
        name = folders.isEmpty ? text : CString(last)
        self.folders = folders
    }

    /// Equal for equal paths.
    public struct Identity: Hashable, Sendable {
        fileprivate let bytes: [UInt8]
    }

    /// The path's bytes, for comparison.
    public var identity: Identity { Identity(bytes: text.bytes) }

    /// A file in the directory itself.
    public convenience init(_ name: String) { self.init(pieces: CollectionOfOne(name.utf8)) }
}

/// NUL-terminated bytes at a fixed address, so that a system call needs no conversion.
public final class CString: Sendable {
    nonisolated(unsafe) let start: UnsafePointer<CChar>
    /// The number of bytes before the NUL.
    public let count: Int

    /// Copies bytes, up to the first NUL.
    public init(_ bytes: some Sequence<UInt8>) {
        let bytes = ContiguousArray(bytes.prefix { $0 != 0 })
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: CChar(bitPattern: byte)) }
        (copy + bytes.count).initialize(to: 0)
        start = UnsafePointer(copy)
        count = bytes.count
    }

    deinit { start.deallocate() }
}

extension CString {
    /// The bytes before the NUL.
    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }
}

extension CString: CustomStringConvertible {
    /// The bytes as text; invalid UTF-8 is repaired.
    public var description: String { String(cString: start) }
}

/// A file's directory and its path in it; converted to text only for an error.
struct FileLocation: Sendable {
    let directory: DurableDirectory
    let name: CString
}

extension FileLocation: CustomStringConvertible {
    var description: String { "\(directory.path)/\(name)" }
}
