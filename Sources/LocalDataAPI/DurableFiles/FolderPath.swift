// For _PC_NAME_MAX, which a release build does not find in Glibc.
import CLinux
import Glibc
import LocalDataPluginAPI

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
    let isRootPrivate: Bool

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

/// The folder at the end of a walk.
struct ReachedFolder: ~Copyable {
    let folder: Descriptor
    /// Whether others may have put anything into it, or into one above it.
    let isOnSharedGround: Bool

    /// The open folder only.
    consuming func takeFolder() -> Descriptor { folder }
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
