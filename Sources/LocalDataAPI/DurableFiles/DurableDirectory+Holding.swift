import Glibc
public import LocalDataPluginAPI

extension DurableDirectory {
    /// The result of trying to hold a file.
    public enum Hold: ~Copyable, Sendable {
        /// The caller holds it. No other process that asks for it gets it until the caller releases it.
        case held(HeldFile)
        /// Another process or object holds it.
        case elsewhere
        /// There is no such file.
        case missing
    }

    /// Whether someone holds an open file that still has its name; `nil` if the name belongs to another file or none.
    /// Only queries, and blocks nobody.
    ///
    /// - Throws: `StorageError`.
    public func isHeld(_ file: borrowing OpenFile, as path: RelativePath) throws(StorageError) -> Bool? {
        if try file.isHeldElsewhere() { return true }
        // A holder releases a file after it has replaced or removed it.
        return try isCurrent(file, path) ? false : nil
    }

    /// Tries to hold the file with this name. Never waits; of any number of callers exactly one succeeds.
    ///
    /// - Throws: As ``open(_:)``; the file has to be writable.
    public func hold(_ path: RelativePath) throws(StorageError) -> Hold {
        while true {
            guard let file = try open(path, O_RDWR) else { return .missing }
            guard try file.hold() else { return .elsewhere }
            // Its holder may have replaced or removed it before it was locked.
            if try isCurrent(file, path) { return .held(HeldFile(file)) }
        }
    }

    /// Replaces or creates a file, and holds the new one before anyone sees it. If the caller holds the old file,
    /// nobody else can get hold of the name in between.
    ///
    /// - Parameter held: The caller's hold under this name. After a success, and after an error whose outcome is
    ///   `durabilityUnknown`, it holds the new file; after any other error, the old one.
    /// - Throws: As ``replace(_:attribute:with:)``.
    public func replace(
        _ path: RelativePath, holding held: inout HeldFile?, with bytes: UnsafeRawBufferPointer
    ) throws {
        var new: HeldFile?
        do {
            try replace(path, nil, isRepeatable: { true }) { file in
                try file.write(bytes)
                guard try file.hold() else { throw file.failure(EBUSY, "lock") }
                new = HeldFile(try file.duplicate())
                return Checksum(of: bytes)
            }
        } catch let error as StorageError where error.code == .durabilityUnknown {
            held = new.take()
            throw error
        }
        held = new.take()
    }

    /// Whether the name still belongs to an open file.
    ///
    /// - Throws: `StorageError`.
    public func isCurrent(_ file: borrowing OpenFile, _ path: RelativePath) throws(StorageError) -> Bool {
        guard let folder = try descriptorForReading(), let parent = try parent(of: path, in: folder) else {
            return false
        }
        var here = stat()
        var there = stat()
        guard fstat(file.descriptor.number, &here) == 0 else { throw file.failure(errno, "inspect") }
        guard fstatat(parent.number, path.name.start, &there, AT_SYMLINK_NOFOLLOW) == 0 else {
            let code = errno
            if code == ENOENT { return false }
            throw file.failure(code, "inspect")
        }
        return here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }
}
