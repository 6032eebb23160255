#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A record that a sync transport carries from one device to the others.
public struct SyncRecord: Hashable, Sendable {
    /// The device that published it: 1 to 64 lower case letters, digits and `-`.
    public var writer: String
    /// What it is about: 1 to 64 lower case letters, digits and `-`. A writer has one record of each name.
    public var name: String
    /// The sealed content; it may be empty.
    public var content: Data

    /// Creates a record.
    public init(writer: String, name: String, content: Data) {
        (self.writer, self.name, self.content) = (writer, name, content)
    }
}
