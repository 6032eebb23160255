internal import FoundationEssentials
internal import Glibc
package import HostGround
package import HostPlugins
package import HostSealing
internal import HostStores
package import LocalDataAPI

/// The form of all backups: `89 4C 44 42`, the version 1, then one envelope to the end of the file. The
/// specification is in `LocalDataAPI.docc/Backup.md`.
package enum BackupFormat {
    static let start: [UInt8] = [0x89, 0x4C, 0x44, 0x42, version]
    static let version: UInt8 = 1

    /// The largest chunk that is read, as a power of two: the size that is written.
    static let chunkExponent = EnvelopeHeader.usualChunkExponent

    static func envelope(_ crypto: LoadedCrypto) -> Envelope {
        let place = StorageNamespace(domain: HostSettings.reservedDomains + "backup")
        return Envelope(StorageAddress(place, name: "backup \(version)"), crypto: crypto)
    }

    /// How a new backup is sealed. The cipher is the one that every provider has, on any processor. The memory of
    /// Argon2id leaves room for the program; its work is that of 3 passes over 64 MiB.
    package static func style(_ crypto: LoadedCrypto) -> EnvelopeStyle {
        EnvelopeStyle(
            crypto.offers(.chaCha20Poly1305) ? .chaCha20Poly1305 : .aes256GCM,
            crypto.offers(.argon2id)
                ? .argon2id(passes: 12, memory: 16 << 10) : .pbkdf2(iterations: 600_000, salt: nil),
            chunkExponent: chunkExponent)
    }

    /// The highest cost of a derivation that is read.
    static let limit = DerivationLimit(.hkdf())
}

/// A backup that is open for reading. Whatever gets its name meanwhile, it reads the same file.
package final class BackupFile: Sendable {
    let path: String
    private let descriptor: OwnedDescriptor

    /// - Throws: `fileError` if it cannot be opened or is no regular file.
    package init(_ path: String) throws(StorageError) {
        self.path = path
        // A pipe must not block, and cannot be read twice.
        guard let descriptor = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) else {
            let code = errno
            throw StorageError(
                .fileError, "the backup '\(path)' cannot be opened: \(StorageError.systemText(code))",
                hint: code == EACCES
                    ? "run it as a user who may read the file" : "name a file that ld-host backup has written")
        }
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(
                .fileError, "'\(path)' is not a regular file, and a backup is read twice",
                hint: "name a file that ld-host backup has written")
        }
        self.descriptor = descriptor
    }

    /// Fills a buffer with the bytes at an offset; 0 at the end.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        while true {
            let count = pread(descriptor.raw, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw StorageError(
                    .fileError, "the backup '\(path)' cannot be read: \(StorageError.systemText(errno))",
                    hint: "check the disk")
            }
        }
    }

    /// The header of its envelope, which is not authentic yet.
    ///
    /// - Throws: `corrupt` or `unsupported` if it is no backup of this version; `cannotOpen` if the header asks for
    ///   what this program does not compute.
    package func header(_ crypto: LoadedCrypto) throws(StorageError) -> EnvelopeHeader {
        let bytes = try startOfFile()
        let header: EnvelopeHeader
        do throws(EnvelopeFault) {
            header = try bytes.withBuffer { (bytes) throws(EnvelopeFault) in try EnvelopeHeader(parsing: bytes) }
        } catch {
            throw StorageError(
                .corrupt, "the backup '\(path)' is damaged: after its version, it \(error)", hint: Self.another)
        }
        guard header.chunkExponent <= BackupFormat.chunkExponent else {
            throw StorageError(
                .corrupt,
                "the backup '\(path)' is damaged: it has chunks of 2^\(header.chunkExponent) bytes; expected at most "
                    + "2^\(BackupFormat.chunkExponent)", hint: Self.another)
        }
        for (name, isOffered) in [
            ("\(header.cipher)", crypto.offers(header.cipher)),
            ("\(header.derivation.function)", crypto.offers(header.derivation.function)),
        ] where !isOffered {
            throw StorageError(
                .cannotOpen,
                "the backup '\(path)' is sealed with \(name), which the crypto provider '\(crypto.component)' does "
                    + "not offer",
                hint: "choose one that does with: ld-host config set encryption.provider ID; see: ld-host plugins list")
        }
        guard (try? BackupFormat.limit.check(header.derivation, at: StorageAddress(.init(domain: ""), name: ""))) != nil
        else {
            throw StorageError(
                .cannotOpen,
                "the header of the backup '\(path)' asks for a derivation by \(header.derivation.function) that costs "
                    + "more than four times the usual", hint: Self.another)
        }
        return header
    }

    static let another = "use another backup; nothing was changed"

    private func startOfFile() throws(StorageError) -> [UInt8] {
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: BackupFormat.start.count + EnvelopeHeader.largestSize, alignment: 8)
        defer { memory.deallocate() }
        var filled = 0
        while filled < memory.count {
            let count = try read(at: filled, into: UnsafeMutableRawBufferPointer(rebasing: memory[filled...]))
            if count == 0 { break }
            filled += count
        }
        let bytes = Array(memory[..<filled])
        let mark = BackupFormat.start.dropLast()
        func shown(_ bytes: ArraySlice<UInt8>) -> String {
            bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined(separator: " ")
        }
        guard bytes.starts(with: mark), bytes.count > mark.count else {
            let found = bytes.isEmpty ? "it is empty" : "it starts with the bytes \(shown(bytes.prefix(mark.count)))"
            throw StorageError(
                .corrupt, "'\(path)' is not a backup: \(found); expected \(shown(mark)) and a version",
                hint: "name a file that ld-host backup has written")
        }
        let version = bytes[mark.count]
        guard version == BackupFormat.version else {
            throw StorageError(
                .unsupported,
                "the backup '\(path)' has version \(version); this program reads version \(BackupFormat.version)",
                hint: "use a later version of LocalData")
        }
        return Array(bytes.dropFirst(BackupFormat.start.count))
    }
}

/// Where the passphrase of a backup comes from.
package enum BackupPassphrase: Sendable {
    case terminal
    case given(SecretBytes)

    /// What a file descriptor supplies, to its end. To be called before the program opens files of its own: one of them
    /// may get the number of a descriptor that is not open.
    ///
    /// - Throws: `securityApplicationFailed` if it cannot be read; `valueTooLarge`.
    package static func reading(_ descriptor: Int32) throws(StorageError) -> Self {
        .given(try KeyMaterialProviders.readAll(descriptor))
    }
}

extension BackupPassphrase {
    /// The key that the passphrase is. May wait for a person.
    ///
    /// - Parameter isNew: Whether to ask for it twice.
    /// - Throws: `securityApplicationFailed` if it is empty or nobody can be asked.
    package func key(of path: String, isNew: Bool) throws(StorageError) -> EnvelopeKey {
        let passphrase = Passphrase(
            subject: "the backup '\(path)'",
            noTerminal: StorageError(
                .securityApplicationFailed,
                "the backup '\(path)' takes a passphrase, and there is no terminal to prompt for it",
                hint: "run it in a terminal, or give --passphrase-fd N"),
            empty: StorageError(
                .securityApplicationFailed, "the passphrase of the backup '\(path)' is empty",
                hint: "give a passphrase"))
        switch self {
        case .terminal: return EnvelopeKey(try isNew ? passphrase.typedTwice() : passphrase.typed())
        case .given(let secret): return EnvelopeKey(try passphrase.trimmed(secret))
        }
    }
}
