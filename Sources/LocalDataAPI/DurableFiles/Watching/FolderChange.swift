/// What a ``FolderWatch`` tells.
package enum FolderChange: Hashable, Sendable {
    /// A file was put in place, or is gone. Names are bytes, from the watched folder's own on.
    case file(folders: [[UInt8]], name: [UInt8])
    /// Anything may have changed.
    case anything
}
