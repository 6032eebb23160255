/// Where a file stands below a ``DurableDirectory``, ready for system calls.
package final class RelativePath: Sendable {
    /// The whole path.
    let text: CString
    /// The file's own name.
    let name: CString
    /// The folders on the way, outermost first; none for a file that stands in the directory itself.
    let folders: [Folder]

    /// A folder on the way.
    struct Folder: Sendable {
        /// Its path from the directory.
        let path: CString
        /// Its own name.
        let name: CString
    }

    /// Takes the names of the folders on the way and of the file; none of them may be empty, `.`, `..` or have a `/`.
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

    /// What two paths have in common that are the same.
    package struct Identity: Hashable, Sendable {
        fileprivate let bytes: [UInt8]
    }

    /// Its bytes, to be compared.
    package var identity: Identity { Identity(bytes: text.bytes) }

    /// A file in the directory itself.
    package convenience init(_ name: String) { self.init(pieces: CollectionOfOne(name.utf8)) }
}
