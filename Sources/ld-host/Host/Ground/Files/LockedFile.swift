internal import DurableFiles
internal import Glibc
package import LocalDataAPI

/// The file of a held ``FileLock``. It can store a number, so that a holder notices what others did since.
package struct LockedFile: ~Copyable {
    private let descriptor: OwnedDescriptor
    private let path: String
    private let isExclusive: Bool

    init(_ descriptor: consuming OwnedDescriptor, path: String, isExclusive: Bool) {
        self.descriptor = descriptor
        self.path = path
        self.isExclusive = isExclusive
    }

    /// Closing is not enough: a child process that is starting shares the open file until it runs its program.
    deinit { flock(descriptor.raw, LOCK_UN) }

    /// The number in the file; 0 if the file is empty, or its first writer was killed.
    ///
    /// - Throws: `corrupt` if the file contains more than a number; `fileError` if it cannot be read.
    package func number() throws(StorageError) -> UInt64 { try Self.number(in: descriptor.raw, path: path) }

    /// The number in an open file; see ``number()``.
    static func number(in descriptor: CInt, path: String) throws(StorageError) -> UInt64 {
        var bytes = (UInt64(0), UInt8(0))
        while true {
            let count = withUnsafeMutableBytes(of: &bytes) { pread(descriptor, $0.baseAddress, size + 1, 0) }
            switch count {
            case 0..<size: return 0
            case size: return UInt64(bigEndian: bytes.0)
            case 1...:
                throw StorageError(
                    .corrupt, "'\(path)' does not hold a number, expected at most \(size) bytes",
                    hint: "remove it; it is recreated")
            default:
                let code = errno
                if code != EINTR { throw StorageError(system: code, "read", path: path) }
            }
        }
    }

    /// Stores a number in the file, for the next holders. After a power loss it may be an earlier one.
    ///
    /// - Throws: `unsupported` if the lock is held shared; `noSpace` or `fileError`, and then the number is unchanged.
    package func setNumber(_ number: UInt64) throws(StorageError) {
        guard isExclusive else {
            throw StorageError(.unsupported, "'\(path)' cannot be changed while its lock is held shared")
        }
        let bytes = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
        while true {
            let count = pwrite(descriptor.raw, bytes, bytes.count, 0)
            if count == bytes.count { return }
            let code = count < 0 ? errno : EIO
            if code != EINTR { throw failure(code, "write") }
        }
    }

    /// Lets others hold the lock too, but not exclusively. The system gives it up for a moment; see flock(2).
    ///
    /// - Throws: `fileError`.
    func share() throws(StorageError) {
        while flock(descriptor.raw, LOCK_SH) != 0 {
            let code = errno
            if code != EINTR { throw failure(code, "share the lock of") }
        }
    }

    /// Removes ``FairLock``'s mark from the file.
    func clearMark() { FairLock.mark(descriptor.raw, false) }

    private func failure(_ code: Int32, _ call: String) -> StorageError {
        StorageError(system: code, call, path: path)
    }

    /// The size of the number in bytes; it is big-endian.
    private static let size = 8
}
