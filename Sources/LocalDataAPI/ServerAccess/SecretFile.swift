internal import CLinux
internal import DurableFiles
internal import Glibc
public import LocalDataPluginAPI

/// A file that holds a secret and nothing else, such as a systemd credential. It is read at each connection, so that a
/// new secret needs no restart.
public struct SecretFile: Sendable {
    private static let variable = "$CREDENTIALS_DIRECTORY/"
    /// In bytes; credentials of NATS have a signed list of rights.
    private static let longest = 65_536
    /// Where it is.
    public let path: String
    /// Its name in messages.
    private let kind: String
    /// systemd shares a credential with its service by an access list, which shows in the mode as rights of the group.
    private let isCredential: Bool

    /// - Parameters:
    ///   - option: An absolute path, or a name behind `$CREDENTIALS_DIRECTORY/`.
    ///   - name: The option's name.
    ///   - kind: What the file is called in messages.
    public init(_ option: String, of name: String, kind: String) throws(StorageError) {
        self.kind = kind
        isCredential = option.hasPrefix(Self.variable)
        if isCredential {
            guard let folder = secure_getenv("CREDENTIALS_DIRECTORY").flatMap({ String(validatingCString: $0) }) else {
                throw StorageError(
                    .invalidOptions, "option '\(name)' is '\(option)', and systemd passed no credentials",
                    hint: "add LoadCredential= to the unit, or give an absolute path")
            }
            path = folder + "/" + option.dropFirst(Self.variable.count)
        } else {
            path = option
        }
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option '\(name)' is '\(option)'; expected an absolute path",
                hint: "start it with '/' or '\(Self.variable)'")
        }
    }

    /// Checks that it can be read, and by nobody else.
    ///
    /// - Throws: `permissionDenied` if others could read the file; `storeUnavailable` if it is missing or unusable.
    public func check() throws { close(try opened()) }

    /// Lends the secret, without a line end, followed by a zero byte.
    ///
    /// - Throws: `permissionDenied` if others could read the file; `storeUnavailable` if it is missing or unusable.
    public func with<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) throws -> Result {
        let file = try opened()
        defer { close(file) }
        return try withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.longest + 1) { buffer in
            guard let start = buffer.baseAddress else { throw unusable("not enough memory") }
            defer { explicit_bzero(start, buffer.count) }
            var count = 0
            while count < Self.longest {
                let got = read(file, start + count, Self.longest - count)
                guard got > 0 else { break }
                count += got
            }
            while count > 0, [10, 13].contains(start[count - 1]) { count -= 1 }
            guard count > 0, count < Self.longest else { throw unusable("it is empty or too long") }
            start[count] = 0
            return try body(start)
        }
    }

    private func opened() throws -> Int32 {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard file >= 0 else { throw unusable(String(cString: strerror(errno))) }
        do { try checkRights(file) } catch {
            close(file)
            throw error
        }
        return file
    }

    private func checkRights(_ file: Int32) throws {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unusable("it is not a regular file")
        }
        let isOwn = status.st_uid == geteuid() || status.st_uid == 0
        guard Ownership.isSecret(status) || isCredential && isOwn && status.st_mode & 0o007 == 0 else {
            throw StorageError(
                .permissionDenied, "other users can read the \(kind) '\(path)'",
                hint: Ownership.isOwn(status, of: geteuid())
                    ? "take it away from them: chmod 600 '\(path)'" : "use a copy of your own, with mode 600")
        }
    }

    private func unusable(_ reason: String) -> StorageError {
        StorageError(.storeUnavailable, "the \(kind) '\(path)' cannot be read: \(reason)")
    }
}
