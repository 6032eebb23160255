import Glibc
import LocalDataPluginAPI

/// Descends from `/`, folder by folder, opening each in the previous one.
struct FolderWalk: ~Copyable {
    /// The result of a step.
    enum Step {
        case entered
        /// The folder is missing, and none is created.
        case missing
        /// A symbolic link to follow: its target.
        case link([UInt8])
    }

    /// Whether steps create missing folders.
    var isMaking: Bool
    /// Whether they are for their owner only, also below a group's.
    var isPrivate: Bool
    private var folder: Descriptor
    private var path = ""
    /// Whether others may have put anything here.
    private var isShared = false
    private var hasMade = false

    init(isMaking: Bool, isPrivate: Bool) throws(StorageError) {
        self.isMaking = isMaking
        self.isPrivate = isPrivate
        folder = try Self.top()
    }

    /// Returns to `/`, for a link that leads there.
    mutating func startOver() throws(StorageError) {
        folder = try Self.top()
        path = ""
        isShared = false
    }

    /// Descends to a folder; creates it if it is missing and this walk creates folders.
    mutating func enter(_ name: CString, followsLinks: Bool) throws(StorageError) -> Step {
        let here = try status(of: folder.number, at: path.isEmpty ? "/" : path)
        isShared = isShared || Self.isShared(here.st_mode)
        let parent = path.isEmpty ? "/" : path
        let below = "\(path)/\(name)"
        var next = Descriptor(Descriptor.open(name.start, in: folder.number, Descriptor.pathOnly | O_NOFOLLOW))
        if next == nil, errno == ENOENT {
            guard isMaking else { return .missing }
            if !hasMade {
                try FolderMaker.synchronize("..", in: folder.number, at: "\(parent)/..", isOwn: false)
                hasMade = true
            }
            let isOfGroup = FolderMaker.isOfGroup(here.st_mode) && !isPrivate
            try FolderMaker.make(name, in: folder.number, isShared: isOfGroup, at: below)
            if !isOfGroup, here.st_mode & S_ISGID != 0 { try FolderMaker.close(name, in: folder.number, at: below) }
            try FolderMaker.synchronize(".", in: folder.number, at: parent, isOwn: true)
            next = Descriptor(Descriptor.open(name.start, in: folder.number, Descriptor.pathOnly | O_NOFOLLOW))
        }
        guard let next else { throw StorageError(system: errno, "open the folder", path: below) }
        let found = try status(of: next.number, at: below)
        if found.st_mode & S_IFMT == S_IFLNK {
            try Self.check(found, at: below, in: parent, isShared: isShared, isFollowed: followsLinks)
            return .link(try Self.target(of: next.number, at: below))
        }
        guard found.st_mode & S_IFMT == S_IFDIR else {
            throw StorageError(system: ENOTDIR, "open the folder", path: below)
        }
        folder = next
        path = below
        return .entered
    }

    /// Opens the folder that was reached.
    consuming func finish() throws(StorageError) -> ReachedFolder {
        let here = try status(of: folder.number, at: path.isEmpty ? "/" : path)
        if let opened = Descriptor(Descriptor.open(".", in: folder.number, O_RDONLY | O_DIRECTORY)) {
            return ReachedFolder(folder: opened, isOnSharedGround: isShared || Self.isShared(here.st_mode))
        }
        throw StorageError(system: errno, "open the folder", path: path.isEmpty ? "/" : path)
    }

    private static func top() throws(StorageError) -> Descriptor {
        if let top = Descriptor(Descriptor.open("/", in: AT_FDCWD, Descriptor.pathOnly | O_DIRECTORY)) { return top }
        throw StorageError(system: errno, "open the folder", path: "/")
    }

    private func status(of file: Int32, at path: String) throws(StorageError) -> stat {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw StorageError(system: errno, "inspect", path: path) }
        return status
    }

    /// Whether others may put links of any kind into a folder, even this user's own from elsewhere.
    private static func isShared(_ mode: mode_t) -> Bool {
        mode & (S_IWGRP | S_IWOTH) != 0 && mode & S_ISGID != 0 || mode & S_IWOTH != 0 && mode & S_ISVTX == 0
    }

    private static func check(
        _ link: stat, at path: String, in parent: String, isShared: Bool, isFollowed: Bool
    ) throws(StorageError) {
        let detail: String
        if isShared {
            detail = "it is a symbolic link below a folder that others may write to"
        } else if !isFollowed {
            detail = "it is a symbolic link below the root of a store, where none is followed"
        } else if link.st_uid != geteuid(), link.st_uid != 0 {
            detail = "it is a symbolic link of user \(link.st_uid), and this is user \(geteuid())"
        } else {
            return
        }
        throw StorageError(system: ELOOP, "open the folder", path: path, detail: detail)
    }

    private static func target(of link: Int32, at path: String) throws(StorageError) -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(link, "", &buffer, buffer.count)
        guard count >= 0 else { throw StorageError(system: errno, "read the symbolic link", path: path) }
        return buffer.prefix(count).map { UInt8(bitPattern: $0) }
    }
}
