package import HostGround
internal import JSON
package import LocalDataAPI

/// A passphrase that a person types or a descriptor supplies.
package struct Passphrase: Sendable {
    /// What it protects, for prompts: `store 'secrets'`.
    let subject: String
    /// The error where nobody can be asked.
    let noTerminal: StorageError
    /// The error for one without a byte.
    let empty: StorageError

    package init(subject: String, noTerminal: StorageError, empty: StorageError) {
        self.subject = subject
        self.noTerminal = noTerminal
        self.empty = empty
    }

    /// Asks at the terminal.
    ///
    /// - Throws: ``noTerminal``, ``empty``; `cancelled` if the input ends without a line.
    package func typed() throws(StorageError) -> SecretBytes { try typed("passphrase of \(subject): ") }

    /// Asks for a new one, which is typed twice.
    ///
    /// - Throws: As ``typed()``; `securityApplicationFailed` if the second one differs.
    package func typedTwice() throws(StorageError) -> SecretBytes {
        let key = try typed("new passphrase of \(subject): ")
        let again = try typed("repeat it: ")
        let isSame = key.withBytes { key in again.withBytes { key.elementsEqual($0) } }
        guard isSame else {
            throw StorageError(
                .securityApplicationFailed,
                "the passphrase of \(subject) was typed differently the second time; nothing was written",
                hint: "try again")
        }
        return key
    }

    /// Without what is around typed or piped input: a line end, also that of another system, and a byte order mark.
    ///
    /// - Throws: ``empty``.
    package func trimmed(_ secret: SecretBytes) throws(StorageError) -> SecretBytes {
        let range = secret.withBytes { bytes in
            var end = bytes.count
            if bytes.last == UInt8(ascii: "\n") {
                end -= 1
                if bytes.prefix(end).last == UInt8(ascii: "\r") { end -= 1 }
            }
            let start = bytes.starts(with: JSON.byteOrderMark) ? JSON.byteOrderMark.count : 0
            return start..<max(start, end)
        }
        guard !range.isEmpty else { throw empty }
        return try secret.withBytes { (bytes) throws(StorageError) in
            try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    private func typed(_ prompt: String) throws(StorageError) -> SecretBytes {
        let nothing = StorageError(.cancelled, "no passphrase of \(subject) was typed")
        guard let secret = try Terminal.line(prompt: prompt, isHidden: true, orElse: nothing) else { throw noTerminal }
        return try trimmed(secret)
    }
}
