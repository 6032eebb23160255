import Glibc

/// The type of the file at a path; see inode(7).
package enum FileKind: String, Hashable, Sendable {
    case regular = "a regular file"
    case directory = "a folder"
    case symbolicLink = "a symbolic link"
    case pipe = "a pipe"
    case socket = "a socket"
    case device = "a device"
    case unknown = "of an unknown kind"

    init(mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symbolicLink
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFCHR, S_IFBLK: self = .device
        default: self = .unknown
        }
    }
}
