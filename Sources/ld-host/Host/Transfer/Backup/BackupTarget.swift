internal import DurableFiles
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import HostSealing
package import LocalDataAPI

/// Where a new backup goes.
package struct BackupTarget {
    let path: String
    private let directory: DurableDirectory
    private let name: RelativePath

    /// - Parameter own: The host's own folders, in which only backups are replaced.
    /// - Throws: `fileError` if no file can be there, or one is there and may not be replaced.
    package init(_ path: String, overwriting: Bool, besides own: [String] = []) throws(StorageError) {
        self.path = path
        let file = try HostFile.absolute(path)
        let slash = file.lastIndex(of: "/") ?? file.startIndex
        let (folder, last) = (String(file[..<slash]), String(file[file.index(after: slash)...]))
        var status = stat()
        guard !path.isEmpty, !["", ".", ".."].contains(last) else {
            throw StorageError(
                .fileError, "the backup cannot be written to '\(path)', which names no file", hint: "name a file")
        }
        guard stat(folder.isEmpty ? "/" : folder, &status) == 0,
            status.st_mode & S_IFMT == S_IFDIR
        else {
            throw StorageError(
                .fileError, "the backup cannot be written to '\(path)': its folder does not exist",
                hint: "create the folder, or name another one")
        }
        if lstat(file, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                let kind = status.st_mode & S_IFMT == S_IFLNK ? "a link" : "not a regular file"
                throw StorageError(
                    .fileError, "the backup cannot be written to '\(path)', which is \(kind)",
                    hint: "name a file that does not exist yet")
            }
            guard overwriting else {
                throw StorageError(
                    .fileError, "'\(path)' exists; nothing was written",
                    hint: "name a file that does not exist yet; --overwrite replaces this one")
            }
            guard Self.isBackup(file) || !Self.isInside(folder, own) else {
                throw StorageError(
                    .fileError, "'\(path)' is a file of LocalData's own, and no backup; nothing was written",
                    hint: "name a file that does not exist yet")
            }
        }
        directory = try DurableDirectory(root: folder.isEmpty ? "/" : folder, staging: .besideFile)
        name = RelativePath(last)
    }

    private static func isBackup(_ file: String) -> Bool {
        let opened = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        defer { close(opened) }
        var start = [UInt8](repeating: 0, count: BackupFormat.start.count)
        return opened >= 0 && read(opened, &start, start.count) == start.count && start == Array(BackupFormat.start)
    }

    /// Whether a folder is one of those or below one, by any of its paths.
    private static func isInside(_ folder: String, _ own: [String]) -> Bool {
        func real(_ path: String) -> String? {
            guard let real = realpath(path.isEmpty ? "/" : path, nil) else { return nil }
            defer { free(real) }
            return String(cString: real)
        }
        guard let folder = real(folder) else { return false }
        return own.contains { real($0).map { folder == $0 || folder.hasPrefix("\($0)/") } ?? false }
    }

    /// Writes the file and reads it back before it gets its name.
    ///
    /// - Parameter fill: Writes the records.
    /// - Throws: What `fill` throws; `noSpace`, `permissionDenied` or `fileError`; `corrupt` if it reads back
    ///   differently. Then there is no new file.
    func write(
        _ crypto: LoadedCrypto, under key: EnvelopeKey, as style: EnvelopeStyle,
        _ fill: (BackupWriter) throws -> Void
    ) throws(StorageError) {
        var total = 0
        try storageErrors {
            try withoutActuallyEscaping(fill) { fill in
                try directory.replace(
                    name,
                    from: { take in
                        try withoutActuallyEscaping(take) { take in
                            try BackupFormat.start.withUnsafeBytes { try take($0.bytes) }
                            let sealer = try EnvelopeSealer(BackupFormat.envelope(crypto), under: key, as: style) {
                                try take($0.bytes)
                            }
                            let writer = BackupWriter(sealer)
                            try fill(writer)
                            try sealer.finish()
                            total = writer.total
                        }
                    },
                    written: { try verify($0, crypto, key, total) })
            }
        }
    }

    private func verify(
        _ file: borrowing OpenFile, _ crypto: LoadedCrypto, _ key: EnvelopeKey, _ total: Int
    ) throws {
        let opener = EnvelopeOpener(BackupFormat.envelope(crypto)) { _ in key }
        var (start, size, failure): ([UInt8], Int, StorageError?) = ([], 0, nil)
        func count(_ opened: UnsafeRawBufferPointer) -> Bool {
            size += opened.count
            return true
        }
        try file.readPieces { piece in
            piece.withUnsafeBytes { piece in
                let rest = piece.dropFirst(BackupFormat.start.count - start.count)
                start += piece.prefix(BackupFormat.start.count - start.count)
                do throws(StorageError) {
                    return try opener.take(UnsafeRawBufferPointer(rebasing: rest), count)
                } catch {
                    failure = error
                    return false
                }
            }
        }
        do throws(StorageError) { if failure == nil { try opener.finish(count) } } catch { failure = error }
        guard failure == nil, start == BackupFormat.start, size == total else {
            throw StorageError(
                .corrupt, "the backup '\(path)' reads back differently from what was written; it was removed",
                hint: "check the disk, or name a file on another one")
        }
    }
}
