/// A change that a ``FolderWatch`` reports.
package enum FolderChange: Hashable, Sendable {
    /// A file was put in place or removed. Names are bytes; folders start below the watched folder.
    case file(folders: [[UInt8]], name: [UInt8])
    /// Anything may have changed.
    case anything
}
