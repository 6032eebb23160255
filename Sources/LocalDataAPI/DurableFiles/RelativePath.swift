/// The path of a file below a ``DurableDirectory``, ready for system calls.
package final class RelativePath: Sendable {
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
    package init(pieces: some Collection<some Collection<UInt8>>) {
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
    package struct Identity: Hashable, Sendable {
        fileprivate let bytes: [UInt8]
    }

    /// The path's bytes, for comparison.
    package var identity: Identity { Identity(bytes: text.bytes) }

    /// A file in the directory itself.
    package convenience init(_ name: String) { self.init(pieces: CollectionOfOne(name.utf8)) }
}
