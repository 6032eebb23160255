internal import LocalDataAPI

/// A cipher in pieces.
final class OpenSSLStream: CipherStream {
    private let direction: CipherDirection
    private let cipher: AuthenticatedCipher
    private let context: CipherContext

    init(_ direction: CipherDirection, _ cipher: AuthenticatedCipher, _ context: consuming CipherContext) {
        self.direction = direction
        self.cipher = cipher
        self.context = context
    }

    func update(_ input: RawSpan, into output: inout MutableRawSpan) throws {
        try context.update(input, into: &output)
    }

    func seal(tag: inout MutableRawSpan) throws {
        try require(.seal)
        try context.finish()
        try context.takeTag(into: &tag)
    }

    func open(tag: RawSpan) throws {
        try require(.open)
        try context.expect(tag)
        try context.verify(cipher)
    }

    private func require(_ direction: CipherDirection) throws(StorageError) {
        guard self.direction == direction else {
            throw StorageError(
                .unsupported, "a stream of \(cipher) was begun to \(self.direction), not to \(direction)")
        }
    }
}
