internal import ByteCoding
internal import LocalDataPluginAPI

/// One change in a batch of files.
public struct FileChange {
    /// Calls its argument once, with the whole new content.
    public typealias Content = (_ take: (UnsafeRawBufferPointer) throws -> Void) throws -> Void

    /// The file's folder.
    let place: DurableDirectory
    /// The file.
    let path: RelativePath
    /// The extended attribute to set.
    let attribute: FileAttribute?
    /// The new content; `nil` removes the file, if there is one.
    let content: Content?

    /// Describes a change.
    public init(
        in place: DurableDirectory, _ path: RelativePath, attribute: FileAttribute? = nil, content: Content?
    ) {
        self.place = place
        self.path = path
        self.attribute = attribute
        self.content = content
    }
}

extension FileChange {
    /// Makes the change on its own, outside of a batch.
    ///
    /// - Returns: The identity of the new file; `nil` for a removal.
    func apply() throws -> FileIdentity? {
        guard let content else {
            _ = try place.remove(path)
            return nil
        }
        var identity: FileIdentity?
        try content { try place.replace(path, attribute: attribute, with: $0) { identity = $0 } }
        return identity
    }

    /// Whether the result of a change still holds.
    func stands(_ identity: FileIdentity?) throws -> Bool { try place.identity(of: path) == identity }
}

extension OpenFile {
    /// The hash of the content.
    func digest() throws(StorageError) -> UInt64 {
        var hash = StableHash.start
        try readPieces { piece in
            piece.withUnsafeBytes { StableHash.add($0, to: &hash) }
            return true
        }
        return hash
    }
}
