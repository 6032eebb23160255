/// A file's directory and its path in it; converted to text only for an error.
struct FileLocation: Sendable {
    let directory: DurableDirectory
    let name: CString
}

extension FileLocation: CustomStringConvertible {
    var description: String { "\(directory.path)/\(name)" }
}
