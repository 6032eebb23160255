package import DurableFiles
package import FoundationEssentials
internal import Glibc
package import LocalDataAPI

/// The host's own small files.
package enum HostFile {
    /// A regular file's content; `nil` if it cannot be read, is larger than `limit`, or, with `ownedByUser`, belongs to
    /// someone else, is writable by others, or is a symbolic link. Another one may be a link, as ``Ownership`` says.
    package static func contents(of path: String, ownedByUser: Bool, limit: Int) -> Data? {
        let descriptor =
            ownedByUser ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : Ownership.openGiven(path)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
            return nil
        }
        if ownedByUser, status.st_uid != geteuid() || status.st_mode & 0o022 != 0 { return nil }
        var data = Data(count: Int(status.st_size))
        let count = data.withUnsafeMutableBytes { buffer in
            var filled = 0
            while filled < buffer.count {
                let count = read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                filled += count
            }
            return filled
        }
        return count == data.count ? data : nil
    }
}

extension HostFile {
    /// The size of a regular file in bytes; `nil` for anything else.
    static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    /// Whether anything exists at a path.
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Replaces a file durably: after a crash either the whole old content or the whole new one is there. Leaves no
    /// other file in its folder.
    ///
    /// - Parameters:
    ///   - keepingMode: Whether an existing file's owner, group and permissions stay. If this process may not give a
    ///     file to its former group, that has no permissions. A new file is for its owner only.
    ///   - rule: What the new file has to be, where a file system has its own way.
    ///   - isHosts: Whether later calls use it, and not a person who has named it: then the superuser does not make it
    ///     in a folder of another user, who could not read it.
    /// - Throws: `fileError` with the file; the old content stays.
    package static func write(
        _ data: Data, to path: String, keepingMode: Bool = false, rule: NewFileRule = .owned, isHosts: Bool = true
    ) throws(StorageError) {
        do throws(StorageError) {
            let (directory, name) = try place(of: path, rule)
            var status = stat()
            let isThere = keepingMode && stat(path, &status) == 0
            if isHosts, !isThere { try requireOwnFolder(directory) }
            try storageErrors {
                try directory.replace(name) { take in
                    try take(data.bytes)
                } written: { new in
                    guard isThere else { return }
                    let isKept = new.setOwner(status.st_uid, group: status.st_gid)
                    try new.setPermissions(UInt32(status.st_mode) & (isKept ? 0o777 : 0o707))
                }
            }
        } catch {
            throw StorageError(.fileError, "'\(path)' cannot be written: \(error.message)", hint: error.hint)
        }
    }

    /// Removes a file, also if power is lost afterwards; does nothing if it is absent.
    ///
    /// - Throws: `fileError` with the file.
    package static func remove(_ path: String) throws(StorageError) {
        do throws(StorageError) {
            let (directory, name) = try place(of: path)
            _ = try directory.remove(name)
        } catch {
            throw StorageError(.fileError, "'\(path)' cannot be removed: \(error.message)", hint: error.hint)
        }
    }

    /// Throws for a folder of another user, in which this process would make what that user cannot use.
    static func requireOwnFolder(_ directory: DurableDirectory) throws(StorageError) {
        guard let owner = try directory.foreignOwner() else { return }
        throw StorageError(
            .permissionDenied, "its folder belongs to user \(owner), and this process runs as root",
            hint: "run it as user \(owner), or set HOME to root's own folder")
    }

    private static func place(
        of path: String, _ rule: NewFileRule = .any
    ) throws(StorageError) -> (DurableDirectory, RelativePath) {
        let file = try absolute(path)
        let slash = file.lastIndex(of: "/") ?? file.startIndex
        let folder = slash == file.startIndex ? "/" : String(file[..<slash])
        return (
            try DurableDirectory(root: folder, staging: .besideFile, rule: rule),
            RelativePath(String(file[file.index(after: slash)...]))
        )
    }

    /// The absolute path; a relative one starts at the current folder.
    package static func absolute(_ path: String) throws(StorageError) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let current = getcwd(nil, 0) else {
            throw StorageError(
                .fileError,
                "'\(path)' starts at the current folder, which is unknown: \(StorageError.systemText(errno))",
                hint: "change to another folder with cd, or name the file with its whole path")
        }
        defer { free(current) }
        return "\(try PathText.string(current, from: "the current folder"))/\(path)"
    }
}

extension StorageError {
    /// The system's own text for an error number, e.g. "No such file or directory".
    package static func systemText(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}

/// Runs code that throws any error, and converts it to a `StorageError` that keeps its description.
package func storageErrors<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
    do { return try body() } catch { throw StorageError(wrapping: error) }
}
