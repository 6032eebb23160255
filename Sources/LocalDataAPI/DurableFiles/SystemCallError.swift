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
