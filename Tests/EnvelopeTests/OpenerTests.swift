import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostSealing
@testable import LocalDataHost

@Suite("Values that are opened and sealed in pieces")
struct OpenerTests {
    private static func sealed(_ size: Int) throws -> (envelope: Envelope, key: EnvelopeKey, sealed: Data) {
        let envelope = Envelope(.token, crypto: try Provider.openssl.crypto)
        let key = try EnvelopeKey.ofRing()
        let style = EnvelopeStyle(.chaCha20Poly1305, chunkExponent: 10)
        return (envelope, key, try envelope.seal(.pattern(size), under: key, as: style))
    }

    @Test("no byte is handed out before its chunk is verified, and none after a wrong chunk")
    func verifiedChunks() throws {
        let (envelope, key, sealed) = try Self.sealed(5000)
        for chunk in 0..<5 {
            // Tries every bit position of a byte, anywhere in the chunk and in its tag.
            for offset in [0, 1, 500, 900] {
                let wrong = sealed.flipping(8 * (64 + 1040 * chunk + offset) + offset % 8)
                for size in [1, 333, 1040, 10_000] {
                    let (value, _, failure) = envelope.pieces(of: wrong, by: size) { _ in key }
                    #expect(failure?.code == .cannotOpen)
                    #expect(value == .pattern(1024 * chunk))
                }
            }
        }
    }

    @Test("a chunk is passed on as soon as another one follows")
    func progress() throws {
        let (envelope, key, sealed) = try Self.sealed(3000)
        let opener = EnvelopeOpener(envelope) { _ in key }
        var opened = 0
        for (index, byte) in sealed.enumerated() {
            _ = try withUnsafeBytes(of: byte) { bytes in
                try opener.take(bytes) {
                    opened += $0.count
                    return true
                }
            }
            #expect(opened == max(0, (index - 64) / 1040) * 1024)
            #expect((opener.parsedHeader != nil) == (index >= 63))
        }
        try opener.finish {
            opened += $0.count
            return true
        }
        #expect(opened == 3000)
    }

    @Test("a failure is final: no later chunk opens after a wrong one")
    func failedOnes() throws {
        let (envelope, key, sealed) = try Self.sealed(3000)
        let chunks = [sealed[64..<1104], sealed[1104..<2144], sealed[2144...]]
        let opener = EnvelopeOpener(envelope) { _ in key }
        func take(_ data: Data) throws -> Bool {
            try data.withUnsafeBytes { bytes in
                try opener.take(bytes) { _ in
                    Issue.record("a chunk was handed out")
                    return true
                }
            }
        }
        // The second chunk is refused in the place of the first; after that it would be in its own place.
        #expect(try take(sealed[..<64] + chunks[1]))
        for _ in 0..<3 { #expect(throws: envelope.context.cannotOpen) { try take(chunks[1] + chunks[2]) } }
        #expect(throws: envelope.context.cannotOpen) { try opener.finish { _ in true } }
    }

    @Test("a stopped or ended opener accepts nothing more")
    func endedOnes() throws {
        let (envelope, key, sealed) = try Self.sealed(3000)
        let stopped = EnvelopeOpener(envelope) { _ in key }
        #expect(try !sealed.withUnsafeBytes { try stopped.take($0) { _ in false } })
        #expect(throws: envelope.context.cannotOpen) {
            try sealed.withUnsafeBytes { try stopped.take($0) { _ in true } }
        }
        let ended = EnvelopeOpener(envelope) { _ in key }
        #expect(try sealed.withUnsafeBytes { try ended.take($0) { _ in true } })
        try ended.finish { _ in true }
        #expect(throws: envelope.context.cannotOpen) { try ended.finish { _ in true } }
        #expect(throws: envelope.context.cannotOpen) { try sealed.withUnsafeBytes { try ended.take($0) { _ in true } } }
    }

    @Test("an error of the key finder passes through")
    func keyFinders() throws {
        let (envelope, _, sealed) = try Self.sealed(10)
        let missing = StorageError(.keychainError, "there is no such key")
        #expect(throws: missing) { try envelope.open(sealed) { (_) throws(StorageError) in throw missing } }
        let failure = envelope.pieces(of: sealed, by: 9) { (_) throws(StorageError) in throw missing }.failure
        #expect(failure == missing)
    }

    @Test("a wrong chunk leaves only zeros in place of its plaintext", arguments: TestedCipher.all)
    func clearedOutput(_ tested: TestedCipher) throws {
        let (envelope, key) = (try tested.envelope(), try EnvelopeKey.ofRing())
        let sealed = try envelope.seal(.pattern(1000), under: key, as: tested.smallChunks).flipping(8 * 100)
        let header = try sealed.withUnsafeBytes { try EnvelopeHeader(parsing: $0) }
        var chunks = try envelope.chunks(header) { _ in key }
        var output = [UInt8](repeating: 0xAA, count: 1000)
        var failure: StorageError?
        sealed.dropFirst(64).withUnsafeBytes { body in
            output.withUnsafeMutableBytes { output in
                do throws(StorageError) { try chunks.open(body, isLast: true, into: output) } catch { failure = error }
            }
        }
        #expect(failure?.code == .cannotOpen)
        #expect(output == [UInt8](repeating: 0, count: 1000))
    }

    private struct Broken: Error {}

    /// The number of bytes that the source delivers next.
    private static func read(_ source: EnvelopeSource) throws -> Int {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 5000, alignment: 1)
        defer { buffer.deallocate() }
        return try source.read(into: buffer)
    }

    @Test("a source that has failed stays failed, so that its beginning does not pass for the whole")
    func failedSources() throws {
        let (envelope, key) = (Envelope(.token, crypto: try Provider.openssl.crypto), try EnvelopeKey.ofRing())
        let style = EnvelopeStyle(.chaCha20Poly1305, chunkExponent: 10)
        var count = 0
        let source = try EnvelopeSource(envelope, under: key, as: style, attributes: nil) { buffer in
            count += 1
            if count == 3 { throw Broken() }
            return min(buffer.count, 700)
        }
        #expect(try Self.read(source) == 64)
        #expect(try Self.read(source) == 1040)
        for _ in 0..<3 { #expect(throws: Broken.self) { try Self.read(source) } }
        #expect(count == 3)
    }

    @Test("a source that claims more bytes than fit, or a negative number, is refused", arguments: [-1, 1026, Int.max])
    func lyingSources(_ count: Int) throws {
        let (envelope, key) = (Envelope(.token, crypto: try Provider.openssl.crypto), try EnvelopeKey.ofRing())
        let style = EnvelopeStyle(.chaCha20Poly1305, chunkExponent: 10)
        let source = try EnvelopeSource(envelope, under: key, as: style, attributes: nil) { _ in count }
        #expect(try Self.read(source) == 64)
        #expect(throws: StorageError.unknown) { try Self.read(source) }
    }
}
