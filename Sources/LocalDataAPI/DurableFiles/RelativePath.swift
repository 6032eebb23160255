/// Where a file stands below a ``DurableDirectory``, ready for system calls.
package final class RelativePath: Sendable {
    /// The whole path.
    let text: CString
    /// The paths of the folders on the way, outermost first; none for a file that stands in the directory itself.
    let folders: [CString]

    /// Takes the names of the folders on the way and of the file; none of them may be empty, `.`, `..` or have a `/`.
    package init(pieces: some Collection<some Collection<UInt8>>) {
        var path: [UInt8] = []
        var folders: [CString] = []
        for piece in pieces {
            if !path.isEmpty {
                folders.append(CString(path))
                path.append(UInt8(ascii: "/"))
            }
            path += piece
        }
        text = CString(path)
        self.folders = folders
    }

    /// A file in the directory itself.
    package convenience init(_ name: String) { self.init(pieces: CollectionOfOne(name.utf8)) }
}
