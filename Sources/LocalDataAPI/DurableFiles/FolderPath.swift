import CLinux
import Glibc
import LocalDataAPI

/// The absolute path of a folder: a root, and the names of folders below it.
///
/// Others may be able to write to folders on the way, and put symbolic links there that lead to this user's files. So
/// no link is followed below the root, nor below a shared folder: one that others may write to and that has the
/// set-group-ID bit or lacks the sticky bit. On the rest of the way to the root, a link is followed if it belongs to
/// this user or to the superuser.
struct FolderPath: Sendable {
    let text: CString
    private let root: [CString]
    private let below: [CString]
    /// Whether ``openMaking()`` creates the root, too.
    private let makesRoot: Bool
    /// Whether folders that it creates are for their owner only, also below a group's.
    private let isPrivate: Bool
    /// The same of the root and those above it.
    private let isRootPrivate: Bool

    init(
        root: [CString], below: [CString], makesRoot: Bool = true, isPrivate: Bool = false, isRootPrivate: Bool = false
    ) {
        self.root = root
        self.below = below
        self.makesRoot = makesRoot
        self.isRootPrivate = isRootPrivate || isPrivate
        self.isPrivate = isPrivate
        text = CString("/\((root + below).map(\.description).joined(separator: "/"))".utf8)
    }

    /// Opens the folder; `nil` if it or one above it is missing.
    ///
    /// - Throws: `StorageError`; with `ELOOP`, it names the link that is not followed.
    func open() throws(StorageError) -> Descriptor? {
        // One call suffices if no link is on the way.
        let opened = Descriptor.openBelow(text.start, in: AT_FDCWD, O_RDONLY | O_DIRECTORY)
        if let folder = Descriptor(opened) { return folder }
        switch errno {
        case ENOENT: return nil
        // ENOTDIR: a link, if the system cannot distinguish it from a file.
        case ELOOP, ENOTDIR: return try reach()?.takeFolder()
        case let code: throw StorageError(system: code, "open the folder", path: text.description)
        }
    }

    /// Creates the missing folders of the path durably, and opens the last one.
    ///
    /// A folder is created only in one whose own entry is durable. Before the first one, the parent of the nearest
    /// existing folder is synchronized, because the process that created it may have died before doing so; after each
    /// one, the folder that it was created in.
    func openMaking() throws(StorageError) -> Descriptor {
        if let reached = try walk(isMaking: true) { return reached.takeFolder() }
        throw StorageError(system: ENOENT, "open the folder", path: text.description)
    }

    /// Opens the folder and checks all folders above it; `nil` if it or one above it is missing.
    ///
    /// - Throws: As ``open()``.
    func reach() throws(StorageError) -> ReachedFolder? { try walk(isMaking: false) }

    private func walk(isMaking: Bool) throws(StorageError) -> ReachedFolder? {
        var walk = try FolderWalk(isMaking: isMaking && makesRoot, isPrivate: isRootPrivate)
        var rest = Array(root.reversed())
        var links = 0
        while let name = rest.popLast() {
            switch try walk.enter(name, followsLinks: true) {
            case .entered: continue
            case .missing: return nil
            case .link(let target):
                links += 1
                guard links <= Self.mostLinks else {
                    throw StorageError(system: ELOOP, "open the folder", path: text.description)
                }
                if target.first == UInt8(ascii: "/") { try walk.startOver() }
                rest += target.split(separator: UInt8(ascii: "/")).reversed().map { CString($0) }
            }
        }
        (walk.isMaking, walk.isPrivate) = (isMaking, isPrivate)
        for name in below {
            guard case .entered = try walk.enter(name, followsLinks: false) else { return nil }
        }
        return try walk.finish()
    }

    /// The system's own limit for one path.
    private static let mostLinks = 40
}

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

/// The folder at the end of a walk.
struct ReachedFolder: ~Copyable {
    let folder: Descriptor
    /// Whether others may have put anything into it, or into one above it.
    let isOnSharedGround: Bool

    /// The open folder only.
    consuming func takeFolder() -> Descriptor { folder }
}

/// Creates folders that survive a power loss.
package enum FolderMaker {
    /// Whether a folder with this mode is shared by the members of its group: they may change what is in it, and what
    /// is made there is the group's. The set-group-ID bit alone does not say so: homes and projects have it, too.
    package static func isOfGroup(_ mode: UInt32) -> Bool {
        mode & (S_ISGID | S_IWGRP) == S_ISGID | S_IWGRP
    }

    /// Creates one folder unless it exists, with its mode whatever the umask.
    static func make(_ name: CString, in folder: Int32, isShared: Bool, at path: @autoclosure () -> String)
        throws(StorageError)
    {
        guard mkdirat(folder, name.start, isShared ? 0o770 : 0o700) == 0 else {
            let code = errno
            if code == EEXIST { return }
            throw StorageError(system: code, "create the folder", path: path())
        }
        if isShared { return try setMode(0o2770, of: name, in: folder, at: path()) }
        // Under a umask such as 0177 it is one that its own user cannot enter, nor open to change that.
        var made = stat()
        guard fstatat(folder, name.start, &made, AT_SYMLINK_NOFOLLOW) == 0, made.st_mode & 0o700 != 0o700 else {
            return
        }
        guard fchmodat(folder, name.start, 0o700, 0) == 0 else {
            let code = errno
            unlinkat(folder, name.start, AT_REMOVEDIR)
            throw StorageError(
                system: code, "set the mode of the folder", path: path(),
                detail: "the umask takes rights to new folders from their own user, and the file system forbids to "
                    + "give them back")
        }
    }

    /// Takes a new folder from the group of the one above it.
    static func close(_ name: CString, in folder: Int32, at path: @autoclosure () -> String) throws(StorageError) {
        try setMode(0o700, of: name, in: folder, at: path())
    }

    private static func setMode(
        _ mode: mode_t, of name: CString, in folder: Int32, at path: @autoclosure () -> String
    ) throws(StorageError) {
        let code: Int32
        if let made = Descriptor(Descriptor.open(name.start, in: folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)) {
            if fchmod(made.number, mode) == 0 { return }
            code = errno
            var status = stat()
            // Where no mode can be changed: the set-group-ID bit alone opens nothing to the group.
            if code == EPERM, fstat(made.number, &status) == 0, status.st_mode & 0o777 == mode, mode == 0o700 { return }
        } else {
            code = errno
        }
        unlinkat(folder, name.start, AT_REMOVEDIR)
        throw StorageError(system: code, "set the mode of the folder", path: path())
    }

    /// Makes the entries of a folder durable. Follows no symbolic link.
    ///
    /// Folders of others (`isOwn: false`) may be closed to this process, or on a read-only medium: then nothing was
    /// created there. `EINVAL` comes from file systems that cannot synchronize folders.
    static func synchronize(
        _ name: UnsafePointer<CChar>, in folder: Int32, at path: @autoclosure () -> String, isOwn: Bool
    ) throws(StorageError) {
        let flags = O_RDONLY | O_DIRECTORY
        // A folder that is not its own is one above the root.
        let found = isOwn ? Descriptor.openBelow(name, in: folder, flags) : Descriptor.open(name, in: folder, flags)
        guard let opened = Descriptor(found) else {
            let code = errno
            if !isOwn, code == EACCES || code == EPERM { return }
            throw StorageError(system: code, "open the folder", path: path())
        }
        guard Descriptor.synchronize(opened.number) != 0 else { return }
        let code = errno
        if code == EINVAL || (!isOwn && code == EROFS) { return }
        throw StorageError(system: code, "synchronize the folder", path: path())
    }
}

extension FolderPath {
    /// The most bytes that a name has on Linux's own file systems.
    static let longestName = 255

    /// The most bytes that a name in an open folder can have. A file system that does not say is taken for a usual one.
    static func longestName(in folder: Int32) -> Int {
        let longest = fpathconf(folder, Int32(_PC_NAME_MAX))
        return longest > 0 ? min(longest, longestName) : longestName
    }
}
