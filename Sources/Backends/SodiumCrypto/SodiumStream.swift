internal import CSodium
internal import LocalDataAPI

/// ChaCha20-Poly1305 or XChaCha20-Poly1305 in pieces, built from libsodium's ChaCha20 and Poly1305 as in RFC 8439
/// (section 2.8) and draft-irtf-cfrg-xchacha-03.
final class SodiumStream: CipherStream {
    private static let blockSize = 64

    private let direction: CipherDirection
    private let cipher: AuthenticatedCipher
    /// All secrets, in one block of memory.
    private let secrets: UnsafeMutableRawBufferPointer
    private let authenticator: UnsafeMutablePointer<crypto_onetimeauth_poly1305_state>
    private let key: UnsafeMutablePointer<UInt8>
    /// Unused key stream.
    private let block: UnsafeMutablePointer<UInt8>
    private let nonce: UnsafeMutablePointer<UInt8>
    private var unused = 0
    private var counter: UInt32 = 0
    private let dataCount: UInt64
    private var count: UInt64 = 0

    init(
        _ direction: CipherDirection, _ cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan
    ) {
        self.direction = direction
        self.cipher = cipher
        let stateSize = MemoryLayout<crypto_onetimeauth_poly1305_state>.stride
        let secrets = UnsafeMutableRawBufferPointer.allocate(
            byteCount: stateSize + 32 + Self.blockSize + 12, alignment: 16)
        secrets.initializeMemory(as: UInt8.self, repeating: 0)
        self.secrets = secrets
        let bytes = secrets.bytePointer
        authenticator = UnsafeMutableRawPointer(bytes).bindMemory(
            to: crypto_onetimeauth_poly1305_state.self, capacity: 1)
        self.key = bytes + stateSize
        block = bytes + stateSize + 32
        self.nonce = bytes + stateSize + 32 + Self.blockSize
        dataCount = UInt64(data.byteCount)
        key.withUnsafeBytes { key in
            nonce.withUnsafeBytes { nonce in
                if cipher == .xChaCha20Poly1305 {
                    // A key from the nonce's first 16 bytes; the other 8 are the inner nonce, after 4 zeros.
                    crypto_core_hchacha20(self.key, nonce.bytePointer, key.bytePointer, nil)
                    (self.nonce + 4).update(from: nonce.bytePointer + 16, count: 8)
                } else {
                    self.key.update(from: key.bytePointer, count: 32)
                    self.nonce.update(from: nonce.bytePointer, count: 12)
                }
            }
        }
        nextBlock()
        crypto_onetimeauth_poly1305_init(authenticator, block)
        unused = 0
        data.withUnsafeBytes { authenticate($0) }
        padAuthenticated(dataCount)
    }

    deinit {
        sodium_memzero(secrets.bytePointer, secrets.count)
        secrets.deallocate()
    }

    func update(_ input: RawSpan, into output: inout MutableRawSpan) throws {
        guard UInt64(input.byteCount) <= cipher.largestPlaintext - count else {
            throw StorageError(.valueTooLarge, "\(cipher) takes at most \(cipher.largestPlaintext) bytes in all")
        }
        count += UInt64(input.byteCount)
        output.withUnsafeMutableBytes { output in
            input.withUnsafeBytes { input in
                if direction == .open { authenticate(input) }
                transform(input, into: output)
                if direction == .seal { authenticate(UnsafeRawBufferPointer(output)) }
            }
        }
    }

    func seal(tag: inout MutableRawSpan) throws {
        try require(.seal)
        authenticateCounts()
        tag.withUnsafeMutableBytes { _ = crypto_onetimeauth_poly1305_final(authenticator, $0.bytePointer) }
    }

    func open(tag: RawSpan) throws {
        try require(.open)
        authenticateCounts()
        let isRight = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { expected in
            crypto_onetimeauth_poly1305_final(authenticator, expected.bytePointer)
            defer { sodium_memzero(expected.bytePointer, expected.count) }
            return tag.withUnsafeBytes { crypto_verify_16(expected.bytePointer, $0.bytePointer) == 0 }
        }
        guard isRight else { throw SodiumCipher.wrongTag(cipher) }
    }

    private func transform(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        let (from, to) = (input.bytePointer, output.bytePointer)
        var done = 0
        func useBlock() {
            let taken = min(unused, input.count - done)
            let stream = block + (Self.blockSize - unused)
            for index in 0..<taken { to[done + index] = from[done + index] ^ stream[index] }
            unused -= taken
            done += taken
        }
        useBlock()
        let whole = (input.count - done) / Self.blockSize
        if whole > 0 {
            crypto_stream_chacha20_ietf_xor_ic(
                to + done, from + done, UInt64(whole * Self.blockSize), nonce, counter, key)
            // The counter is not used after the last possible block.
            counter &+= UInt32(truncatingIfNeeded: whole)
            done += whole * Self.blockSize
        }
        if done < input.count {
            nextBlock()
            useBlock()
        }
    }

    /// Generates 64 bytes of key stream.
    private func nextBlock() {
        block.update(repeating: 0, count: Self.blockSize)
        crypto_stream_chacha20_ietf_xor_ic(block, block, UInt64(Self.blockSize), nonce, counter, key)
        counter &+= 1
        unused = Self.blockSize
    }

    private func authenticate(_ bytes: UnsafeRawBufferPointer) {
        crypto_onetimeauth_poly1305_update(authenticator, bytes.bytePointer, UInt64(bytes.count))
    }

    /// Zeros up to the next multiple of 16 bytes.
    private func padAuthenticated(_ count: UInt64) {
        withUnsafeBytes(of: (UInt64(0), UInt64(0))) {
            authenticate(UnsafeRawBufferPointer(rebasing: $0[..<Int((16 - count % 16) % 16)]))
        }
    }

    private func authenticateCounts() {
        padAuthenticated(count)
        withUnsafeBytes(of: (dataCount.littleEndian, count.littleEndian)) { authenticate($0) }
    }

    private func require(_ direction: CipherDirection) throws(StorageError) {
        guard self.direction == direction else {
            throw StorageError(
                .unsupported, "a stream of \(cipher) was begun to \(self.direction), not to \(direction)")
        }
    }
}
