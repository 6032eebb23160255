import CLinux
import Glibc
public import LocalDataPluginAPI

/// Errors of file operations. Their hints fit whatever the files are for.
extension StorageError {
    /// A failed system call: `cannot rename '/a/.tmp/x' to '/a/b': no space left on device (ENOSPC)`.
    ///
    /// - Parameters:
    ///   - number: The system's error number. It is the first parameter so that `errno` is read before anything can
    ///     change it.
    ///   - call: What was attempted, as a verb: `open`, `write`, `rename`.
    ///   - path: The file or folder that it was attempted on.
    ///   - target: The target path, for `rename`.
    ///   - detail: The reason, if it says more than the error number: the rest of a sentence.
    public init(
        system number: Int32, _ call: String, path: String, to target: String? = nil, detail: String? = nil
    ) {
        let object = target.map { "'\(path)' to '\($0)'" } ?? "'\(path)'"
        let isDistrust = detail != nil && (number == EPERM || number == ELOOP)
        self.init(
            Self.code(of: number), "cannot \(call) \(object): \(detail ?? Self.text(of: number))",
            hint: isDistrust ? "find out which user put it there, and remove it" : Self.hint(for: number),
            cause: isDistrust ? .distrust(number) : .systemCall(number))
    }

    /// Something other than a regular file, found where a file is expected. It is neither read, nor followed, nor
    /// replaced.
    init(irregular found: FileKind, at path: String) {
        self.init(
            .fileError, "'\(path)' is \(found.rawValue), expected \(FileKind.regular.rawValue)",
            hint: "move it away; only regular files belong there", cause: .irregularFile(kind: found.rawValue))
    }

    /// The system's text for an error number, for use in a sentence: `no space left on device (ENOSPC)`.
    public static func text(of number: Int32) -> String {
        guard let text = ld_linux_error_text(number), let symbol = ld_linux_error_symbol(number) else {
            return "error \(number)"
        }
        let words = String(cString: text)
        return "\(words.prefix(1).lowercased())\(words.dropFirst()) (\(String(cString: symbol)))"
    }

    /// Whether the system denied access.
    public var isRefusal: Bool {
        switch systemError {
        case EACCES, EPERM, EROFS: true
        default: false
        }
    }

    /// The code of a failed system call.
    static func code(of number: Int32) -> Code {
        switch number {
        case ENOSPC, EDQUOT: .noSpace
        case EACCES, EPERM, EROFS: .permissionDenied
        case ETIMEDOUT: .busy
        case ECANCELED: .cancelled
        case EBADMSG: .corrupt
        default: .fileError
        }
    }

    private static func hint(for number: Int32) -> String {
        switch number {
        case ENOSPC, EDQUOT: "free some space on that disk"
        case ETIMEDOUT: "try again, or end the process that holds the lock"
        case EACCES, EPERM: "check the owner and the mode of the path and of the folders above it"
        case EROFS: "move it to a writable disk"
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n)"
        case ENAMETOOLONG: "use a shorter path or name"
        case ENOTDIR: "something that is not a folder is in the way; move it"
        case ELOOP: "replace the symbolic link with a regular file"
        case ENOLCK, ENOSYS, EOPNOTSUPP: "move it to a file system that has locks"
        default: ""
        }
    }
}

/// Durable changes of single files.
extension StorageError {
    /// The intended change.
    enum Change: String {
        case replace, remove
    }

    /// This error as that of a change that did not take effect. An error with another cause than a system call passes
    /// unchanged, and so does one that already states an outcome.
    func failing(_ change: Change, of path: String) -> StorageError {
        switch cause {
        case .systemCall(let number), .distrust(let number):
            StorageError(
                code, "cannot \(change) '\(path)', the old state is kept: \(message)", hint: hint,
                cause: .change(number, call: message))
        case .other, .change, .irregularFile: self
        }
    }

    /// This error as that of a change that took effect, but may not be on the disk.
    func afterChange(_ change: Change, of path: String) -> StorageError {
        StorageError(
            .durabilityUnknown, "'\(path)' is \(change)d, but that may not survive a power loss: \(message)",
            hint: "check the disk, then repeat the change", cause: .change(systemError ?? EIO, call: message))
    }
}

/// Batches.
extension StorageError {
    /// What readers find after a batch failed, now and later.
    enum BatchOutcome {
        /// The old state.
        case unchanged
        /// The new state; after a power loss it may be the old one.
        case durabilityUnknown
        /// The batch is committed and partly in place. The next change, or the next process that opens the root,
        /// resumes it.
        case incomplete
        /// The old state: an earlier batch that is committed and partly in place cannot be completed.
        case blocked
    }

    /// This error as that of a batch. An error with another cause than a system call passes unchanged.
    func failing(_ outcome: BatchOutcome, journal: String) -> StorageError {
        guard let number = systemError else { return self }
        var call = message
        if case .change(_, let inner) = cause { call = inner }
        let (code, hint) = (Self.code(of: number), number == EBADMSG ? Self.damagedJournal : hint)
        let resume = "check the disk; the next change, or reopening the store, resumes the batch"
        let (state, result, advice) =
            switch outcome {
            case .unchanged: ("cannot apply a batch, nothing has changed", code, hint)
            case .durabilityUnknown:
                (
                    "the batch is applied, but that may not survive a power loss", .durabilityUnknown,
                    "check the disk, then repeat the change"
                )
            case .incomplete:
                ("the batch in '\(journal)' is committed, but not completely in place yet", .durabilityUnknown, resume)
            case .blocked: ("the batch in '\(journal)' was interrupted and cannot be completed", code, hint)
            }
        var cause = Cause.change(number, call: call)
        if case .distrust = self.cause { cause = self.cause }
        return StorageError(result, "\(state): \(call)", hint: advice, cause: cause)
    }

    private static let damagedJournal =
        "the batch is partly applied; check its values, then run: ld-host doctor --repair"

    /// Whether values can still be read although a batch failed, because the disk is sound: this process may not
    /// complete the batch, another one is completing it, or its journal demands changes that nobody may make.
    public var leavesReading: Bool {
        switch systemError {
        case ETIMEDOUT, EBADMSG, ELOOP: true
        default: isRefusal
        }
    }
}

/// The type of the file at a path; see inode(7).
public enum FileKind: String, Hashable, Sendable {
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
