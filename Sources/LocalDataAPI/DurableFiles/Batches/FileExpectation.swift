internal import ByteCoding
internal import Glibc
public import LocalDataPluginAPI

/// The state of a file at some moment. A batch is applied only if the file still has it.
public struct FileExpectation: Sendable {
    /// Distinguishes successive contents of one name.
    struct Sighting: Sendable {
        let status: FileStatus
        /// The hash of the content, if the times alone might miss a later change.
        let digest: UInt64?
    }

    private let place: DurableDirectory
    private let path: RelativePath
    private let sighting: Sighting?

    /// Records the state of an open file; `nil` stands for an absent file.
    ///
    /// - Throws: `StorageError`.
    public init(_ path: RelativePath, in place: DurableDirectory, _ file: borrowing OpenFile) throws(StorageError) {
        self.place = place
        self.path = path
        let status = try file.status()
        sighting = Sighting(status: status, digest: try Self.hasDigest(status) ? file.digest() : nil)
    }

    /// Expects an absent file.
    public init(absent path: RelativePath, in place: DurableDirectory) {
        self.place = place
        self.path = path
        sighting = nil
    }

    /// Whether the file existed.
    public var wasThere: Bool { sighting != nil }

    /// Whether the file still has this state.
    func holds() throws(StorageError) -> Bool {
        guard let sighting else { return try !place.exists(path) }
        guard let file = try place.open(path) else { return false }
        let now = try file.status()
        guard now.isLinked, now.identity == sighting.status.identity, now.isSameContent(as: sighting.status) else {
            return false
        }
        guard let digest = sighting.digest else { return true }
        return try file.digest() == digest
    }

    /// A large file cannot be written twice within the resolution of file times.
    private static func hasDigest(_ status: FileStatus) -> Bool { status.isRecent && status.size <= 1 << 20 }
}
