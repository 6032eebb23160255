import Glibc
import LocalDataPluginAPI

/// A new file without a final name yet, in the `.tmp` folder of a directory or beside the file that it will replace. It
/// is removed with this value unless it is published.
///
/// Its lock (flock(2)) shows that its owner lives: a cleaner in this or another process removes only files that it can
/// lock. A cleaner may run between the creation of the file and its locking. Then either the lock is taken, or the file
/// has lost its name by the time it is locked; this type notices both and creates another file. Once a file with a name
/// is locked, no cleaner touches it.
struct TemporaryFile: ~Copyable {
    /// The folder for such files, below the directory.
    static let folder = CString(".tmp".utf8)

    let file: OpenFile
    let identity: FileIdentity
    private let folder: Int32
    private let name: CString
    private var isPublished = false

    /// Creates a temporary file for a path.
    ///
    /// - Throws: `StorageError`, with `ENOENT` if the directory itself is gone.
    init(for path: RelativePath, in directory: DurableDirectory, _ writable: DurableDirectory.Writable)
        throws(StorageError)
    {
        let longest = directory.staging == .besideFile ? FolderPath.longestName(in: writable.descriptor) : 0
        if directory.staging == .besideFile { Self.cleanUp(beside: path.name, in: writable.descriptor, longest) }
        for _ in 0..<Self.attempts {
            let folder = try directory.temporaryFolder(writable)
            let name = Self.newName(for: path.name, directory.staging, longest)
            let location = FileLocation(directory: directory, name: Self.shownName(name, directory.staging))
            // Readable too, because the content may have to be written once more.
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
            guard let descriptor = Descriptor(Descriptor.open(name.start, in: folder, flags, mode: 0o600)) else {
                switch errno {
                case EEXIST: continue
                case ENOENT where directory.staging == .inFolder:
                    directory.forgetTemporaryFolder()
                    continue
                case let code:
                    // The file may exist although its creation was reported as failed.
                    unlinkat(folder, name.start, 0)
                    throw StorageError(system: code, "create", path: location.description)
                }
            }
            if flock(descriptor.number, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                unlinkat(folder, name.start, 0)
                continue
            }
            let file = OpenFile(descriptor, at: location)
            let status = try file.status()
            guard status.isLinked else { continue }
            do throws(StorageError) {
                if writable.isShared { try file.setPermissions(0o660) }
                try file.check(directory, isShared: writable.isShared)
            } catch {
                unlinkat(folder, name.start, 0)
                throw error
            }
            self.folder = folder
            self.file = file
            self.name = name
            identity = status.identity
            return
        }
        throw StorageError(system: EBUSY, "create a file in", path: "\(directory.path)/\(Self.folder)")
    }

    deinit {
        if !isPublished { unlinkat(folder, name.start, 0) }
    }

    /// Gives the file its final name, replacing the file that has it.
    ///
    /// - Returns: `false` if the final parent folder is missing.
    /// - Throws: `StorageError`, with `ENOENT` if this file itself is gone; `durabilityUnknown` if the file has its
    ///   final name although the system reported a failure.
    mutating func publish(as path: RelativePath, in parent: borrowing ParentFolder) throws(StorageError) -> Bool {
        if renameat(folder, name.start, parent.number, path.name.start) == 0 {
            isPublished = true
            return true
        }
        let code = errno
        if code == ENOENT, !path.folders.isEmpty, try file.status().isLinked { return false }
        let target = FileLocation(directory: file.location.directory, name: path.text)
        let failure = StorageError(
            system: code, "rename", path: file.location.description, to: target.description)
        // A failing disk or server may have renamed the file although it reported an error: then the temporary name is
        // gone.
        if faccessat(folder, name.start, F_OK, AT_SYMLINK_NOFOLLOW) != 0, errno == ENOENT, code == EIO {
            isPublished = true
            throw failure.afterChange(.replace, of: target.description)
        }
        throw failure
    }

    /// A name that is never reused, so that an old name cannot refer to a new file.
    ///
    /// - Parameter longest: The most bytes that a name beside the file can have.
    private static func newName(
        for target: CString, _ staging: DurableDirectory.Staging, _ longest: Int
    ) -> CString {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        switch staging {
        case .inFolder: return CString(digits.utf8)
        case .besideFile:
            let padded = String(repeating: "0", count: digitCount - digits.count) + digits
            return CString(prefix(beside: target, longest) + padded.utf8)
        }
    }

    private static func shownName(_ name: CString, _ staging: DurableDirectory.Staging) -> CString {
        staging == .inFolder ? CString("\(folder)/\(name)".utf8) : name
    }

    /// The beginning of a name beside a file: as much of the file's own name as fits.
    private static func prefix(beside target: CString, _ longest: Int) -> [UInt8] {
        let most = max(0, longest - digitCount - 2)
        return [UInt8(ascii: ".")] + target.bytes.prefix(most) + [UInt8(ascii: ".")]
    }

    /// Removes files that dead processes have left beside a file.
    private static func cleanUp(beside target: CString, in folder: Int32, _ longest: Int) {
        let prefix = prefix(beside: target, longest)
        guard let opened = Descriptor(Descriptor.open(".", in: folder, O_RDONLY | O_DIRECTORY)),
            let entries = EntryList(opened, hidden: true)
        else { return }
        while let entry = try? entries.next({ StorageError(system: $0, "list", path: ".") }) {
            guard entry.kind == .regular, entry.name.starts(with: prefix),
                entry.name.count == prefix.count + digitCount,
                entry.name.dropFirst(prefix.count).allSatisfy(isDigit)
            else { continue }
            removeIfDead(CString(entry.name), in: folder)
        }
    }

    /// Removes a temporary file unless its owner lives.
    static func removeIfDead(_ name: CString, in folder: Int32) {
        // Open for writing, because NFS requires that for an exclusive lock.
        guard let file = Descriptor(Descriptor.open(name.start, in: folder, O_RDWR | O_NOFOLLOW)),
            flock(file.number, LOCK_EX | LOCK_NB) == 0
        else { return }
        unlinkat(folder, name.start, 0)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static let digitCount = 16
    private static let attempts = 100
}
