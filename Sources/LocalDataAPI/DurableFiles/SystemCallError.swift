import CLinux
import Glibc

/// A failed system call and its arguments.
package struct SystemCallError: Error, Hashable, Sendable {
    /// The system's error number, e.g. `ENOSPC`; see errno(3).
    package let code: Int32
    /// What was attempted, as a verb: `open`, `write`, `rename`.
    package let call: String
    /// The file or folder that it was attempted on.
    package let path: String
    /// The target path, for `rename`.
    package let target: String?
    /// The cause, if it says more than the error number: the rest of a sentence.
    package let detail: String?

    /// Describes a failure. `code` is the first parameter so that `errno` is read before anything can change it.
    package init(_ code: Int32, _ call: String, path: String, to target: String? = nil, detail: String? = nil) {
        self.code = code
        self.call = call
        self.path = path
        self.target = target
        self.detail = detail
    }

    /// The system's text for an error number, for use in a sentence: `no space left on device (ENOSPC)`.
    package static func text(of code: Int32) -> String {
        guard let text = ld_linux_error_text(code), let symbol = ld_linux_error_symbol(code) else {
            return "error \(code)"
        }
        let words = String(cString: text)
        return "\(words.prefix(1).lowercased())\(words.dropFirst()) (\(String(cString: symbol)))"
    }
}

extension SystemCallError {
    /// Whether the system denied access.
    package var isRefusal: Bool { code == EACCES || code == EPERM || code == EROFS }
}

extension SystemCallError: CustomStringConvertible {
    /// The failure as a sentence: `cannot rename '/a/.tmp/x' to '/a/b': no space left on device (ENOSPC)`.
    package var description: String {
        let object = target.map { "'\(path)' to '\($0)'" } ?? "'\(path)'"
        return "cannot \(call) \(object): \(detail ?? Self.text(of: code))"
    }
}

/// A file that could not be replaced or removed durably, and the outcome.
package struct DurableChangeError: Error, Hashable, Sendable {
    /// The intended change.
    package enum Change: String, Hashable, Sendable {
        case replace, remove
    }

    /// What a reader finds after the failure.
    package enum Outcome: Hashable, Sendable {
        /// The old state.
        case unchanged
        /// The new state; after a power loss it may be the old one.
        case durabilityUnknown
    }

    /// The intended change.
    package let change: Change
    /// The file.
    package let path: String
    /// What a reader finds now.
    package let outcome: Outcome
    /// The system call that failed.
    package let cause: SystemCallError

    /// Describes a failed change.
    package init(_ change: Change, path: String, outcome: Outcome, cause: SystemCallError) {
        self.change = change
        self.path = path
        self.outcome = outcome
        self.cause = cause
    }
}

extension DurableChangeError: CustomStringConvertible {
    /// The failure and the outcome, as a sentence.
    package var description: String {
        switch outcome {
        case .unchanged: "cannot \(change) '\(path)', the old state is kept: \(cause)"
        case .durabilityUnknown: "'\(path)' is \(change)d, but that may not survive a power loss: \(cause)"
        }
    }
}

/// Something other than a regular file, found where a file is expected. It is neither read, nor followed, nor replaced.
package struct FileKindError: Error, Hashable, Sendable {
    /// Its path.
    package let path: String
    /// Its type.
    package let found: FileKind

    /// Describes the file that was found.
    package init(path: String, found: FileKind) {
        self.path = path
        self.found = found
    }
}

extension FileKindError: CustomStringConvertible {
    /// What was found and what was expected, as a sentence.
    package var description: String { "'\(path)' is \(found.rawValue), expected \(FileKind.regular.rawValue)" }
}

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
