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
