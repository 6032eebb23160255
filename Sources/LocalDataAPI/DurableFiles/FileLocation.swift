/// A file's directory and path in it; made into text only for an error.
struct FileLocation: Sendable {
    let directory: DurableDirectory
    let name: CString
}

extension FileLocation: CustomStringConvertible {
    var description: String { "\(directory.path)/\(name)" }
}
