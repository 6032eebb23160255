/// One change in a batch of files.
package struct BatchChange {
    /// Calls its argument, once, with the whole new content.
    package typealias Content = (_ take: (UnsafeRawBufferPointer) throws -> Void) throws -> Void

    /// The folder that the file is in.
    let place: DurableDirectory
    /// The file.
    let path: RelativePath
    /// What is set beside the content.
    let attribute: FileAttribute?
    /// The new content; `nil` removes the file, if there is one.
    let content: Content?

    /// Describes a change.
    package init(
        in place: DurableDirectory, _ path: RelativePath, attribute: FileAttribute? = nil, content: Content?
    ) {
        self.place = place
        self.path = path
        self.attribute = attribute
        self.content = content
    }
}

extension BatchChange {
    /// Makes the change by itself.
    ///
    /// - Returns: Which file has the name then; `nil` for a removal.
    func apply() throws -> FileIdentity? {
        guard let content else {
            _ = try place.remove(path)
            return nil
        }
        var identity: FileIdentity?
        try content { try place.replace(path, attribute: attribute, with: $0) { identity = $0 } }
        return identity
    }

    /// Whether what a change did is still so.
    func stands(_ identity: FileIdentity?) throws -> Bool { try place.identity(of: path) == identity }
}
