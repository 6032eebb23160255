internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
package import HostGround
internal import HostPlugins
package import LocalDataAPI

/// A key file: its bytes are the key, and only its owner can read it.
package struct KeyFile: Sendable {
    let path: String

    package init(path: String) {
        self.path = path
    }

    private static let largest = 4096
    private static let smallest = 16

    /// The key, or `nil` if the file does not exist.
    ///
    /// - Throws: `permissionDenied` if others could read or change it, or it cannot be read; `corrupt` if it is not a
    ///   key.
    package func read() throws(StorageError) -> SecretBytes? {
        let descriptor = Ownership.openGiven(path)
        guard descriptor >= 0 else {
            // Only a missing file may be replaced by a new key. What a link leads to may be on a disk that is not
            // mounted.
            let code = errno
            var link = stat()
            if code == ENOENT, lstat(path, &link) != 0 { return nil }
            throw StorageError(
                .permissionDenied, "the key file '\(path)' cannot be opened: \(StorageError.systemText(code))",
                hint: code == ELOOP || code == ENOTDIR
                    ? "name a file that no link of another user's leads to" : "make it readable only for you")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(
                .corrupt, "the key file '\(path)' is not a regular file", hint: KeySource.whenLost)
        }
        guard Ownership.isSecret(status) else {
            throw StorageError(
                .permissionDenied,
                "the key file '\(path)' has mode \(String(status.st_mode & 0o7777, radix: 8)) and owner "
                    + "\(status.st_uid); expected a file that only you or root can read",
                hint: "if nobody has read it: "
                    + (Ownership.isOwn(status, of: geteuid())
                        ? "chmod 600 \(PathText.shellQuoted(path))" : "use a copy of your own, with mode 600"))
        }
        guard (Self.smallest...Self.largest).contains(Int(status.st_size)) else {
            throw StorageError(
                .corrupt,
                "the key file '\(path)' has \(status.st_size) bytes; expected \(Self.smallest) to \(Self.largest)",
                hint: KeySource.whenLost)
        }
        var filled = 0
        let key = try SecretBytes(count: Int(status.st_size)) { (buffer) throws(StorageError) in
            while filled < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let count = Glibc.read(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                filled += count
            }
        }
        guard filled == key.count else {
            throw StorageError(.fileError, "the key file '\(path)' cannot be read completely", hint: "try again")
        }
        return key
    }

    /// The group whose members can read the file besides its owner; `nil` if none can.
    package var readingGroup: UInt32? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IRGRP != 0 else { return nil }
        return status.st_gid
    }

    /// Creates the file, durably. Call it only if the file is absent.
    func write(_ key: SecretBytes) throws(StorageError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        let name = RelativePath(String(path[path.index(after: slash)...]))
        do throws(StorageError) {
            let directory = try DurableDirectory(root: folder, staging: .besideFile, rule: .secret)
            try storageErrors { try key.withBytes { try directory.replace(name, with: $0) } }
        } catch {
            throw StorageError(
                .fileError, "the key file '\(path)' cannot be written: \(error.message)",
                hint: error.code == .storeUnavailable
                    ? "set the store's sealing.path to a file on another file system"
                    : "make its folder writable, or set the store's sealing.path")
        }
    }
}
