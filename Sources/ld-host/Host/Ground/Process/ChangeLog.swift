internal import ByteCoding
internal import DurableFiles
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// What programs of a user change while one of them switches a store, beside the ``SharedPage``: each notes the address
/// before it makes the change. Names only, no values.
package final class ChangeLog: Sendable {
    /// The log of the programs of this user.
    package static let ofUser = ChangeLog(beside: .ofUser)

    /// A noted change. It may not have been made.
    package struct Entry: Hashable, Sendable {
        /// The identity of the store.
        package let store: UInt64
        package let address: StorageAddress
    }

    private let path: String
    private let writing = Mutex<CInt?>(nil)

    init(beside page: SharedPage) { path = "\(page.path).changes" }

    /// Notes changes that are about to be made.
    ///
    /// - Throws: `noSpace` or `fileError`; then the changes must not be made.
    package func note(_ addresses: [StorageAddress], in store: UInt64) throws(StorageError) {
        var record = ByteWriter(.littleEndian)
        for address in addresses {
            var body = ByteWriter(.littleEndian)
            body.add(store)
            for text in [address.place.domain, address.place.scope, address.place.directory ?? "", address.name] {
                body.add(UInt32(text.utf8.count))
                body.add(text.utf8)
            }
            record.add(UInt32(body.bytes.count))
            record.add(body.bytes)
        }
        let bytes = record.bytes
        try writing.withLock { (file) throws(StorageError) in
            // The one who switches next makes a new file.
            var (here, there) = (stat(), stat())
            if let known = file, fstat(known, &here) != 0 || stat(path, &there) != 0 || here.st_ino != there.st_ino {
                close(known)
                file = nil
            }
            if file == nil {
                // The one who switched is done, and reads nothing more.
                guard access(path, F_OK) == 0 else { return }
                file = try opened(O_WRONLY | O_APPEND)
            }
            guard let file else { return }
            // One call, so that the records of several programs do not mix.
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            guard count == bytes.count else {
                throw StorageError(system: count < 0 ? errno : ENOSPC, "note a change in", path: path)
            }
        }
    }

    /// A new, empty log in place of the former one.
    ///
    /// - Throws: `noSpace`, `permissionDenied` or `fileError`.
    package func begin() throws(StorageError) -> Reader {
        unlink(path)
        return Reader(file: try opened(O_RDONLY | O_CREAT | O_EXCL), path: path)
    }

    private func opened(_ flags: CInt) throws(StorageError) -> CInt {
        let file = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0 else {
            throw StorageError(system: errno, "open the log of changes", path: path)
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            close(file)
            throw StorageError(
                .permissionDenied, "'\(path)' is not a file that only this user can change", hint: "remove it")
        }
        return file
    }

    /// Reads what was noted since it was last read. The log goes with it.
    package struct Reader: ~Copyable {
        private let file: CInt
        private let path: String
        private var rest: [UInt8] = []

        fileprivate init(file: CInt, path: String) { (self.file, self.path) = (file, path) }

        deinit {
            close(file)
            unlink(path)
        }

        /// The changes since the last call, each address once.
        ///
        /// - Throws: `fileError`; `corrupt` if the log is damaged.
        package mutating func next() throws(StorageError) -> Set<Entry> {
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = piece.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
                guard count >= 0 else { throw StorageError(system: errno, "read the log of changes", path: path) }
                guard count > 0 else { break }
                rest += piece[..<count]
            }
            var reader = ByteReader(.littleEndian, rest)
            var (entries, used) = (Set<Entry>(), 0)
            while let size = reader.number(UInt32.self), let body = reader.bytes(Int(size)) {
                guard let entry = Self.entry(body) else {
                    throw StorageError(.corrupt, "the log of changes '\(path)' is damaged", hint: "try again")
                }
                entries.insert(entry)
                used += 4 + Int(size)
            }
            rest.removeFirst(used)
            return entries
        }

        private static func entry(_ body: ArraySlice<UInt8>) -> Entry? {
            var reader = ByteReader(.littleEndian, body)
            guard let store = reader.number(UInt64.self) else { return nil }
            var texts: [String] = []
            while let count = reader.number(UInt32.self), let bytes = reader.bytes(Int(count)),
                let text = String(validating: bytes, as: UTF8.self)
            {
                texts.append(text)
            }
            guard texts.count == 4, reader.isAtEnd else { return nil }
            let place = StorageNamespace(
                domain: texts[0], scope: texts[1], directory: texts[2].isEmpty ? nil : texts[2])
            return Entry(store: store, address: StorageAddress(place, name: texts[3]))
        }
    }
}
