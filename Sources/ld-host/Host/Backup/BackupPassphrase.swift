package import LocalDataAPI

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
    /// - Parameter isNew: Whether it is to be typed twice.
    /// - Throws: `securityApplicationFailed` if it is empty or nobody can be asked.
    func key(of path: String, isNew: Bool) throws(StorageError) -> EnvelopeKey {
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
