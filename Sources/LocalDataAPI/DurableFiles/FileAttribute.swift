/// An extended attribute for a file to be written; see xattr(7).
package struct FileAttribute: Sendable {
    /// The attribute's name with its namespace, e.g. `user.example`.
    package let name: CString
    /// Its bytes, for a file with the described content. File systems differ in how many they keep; some keep none.
    package let value: @Sendable (ContentRecord) -> [UInt8]

    /// Describes an attribute.
    package init(_ name: CString, _ value: @escaping @Sendable (ContentRecord) -> [UInt8]) {
        self.name = name
        self.value = value
    }
}
