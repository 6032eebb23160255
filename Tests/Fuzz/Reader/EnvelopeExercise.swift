internal import FoundationEssentials
package import LocalDataAPI
package import LocalDataHost

/// Gives arbitrary bytes to the readers of envelopes, and checks their promises.
package struct EnvelopeExercise: Sendable {
    private let envelope: Envelope
    private let material: SecretBytes

    /// Exercises with a provider.
    package init(_ crypto: LoadedCrypto) throws {
        envelope = Envelope(Self.address, crypto: crypto)
        material = try SecretBytes(count: 32) { (memory) throws(StorageError) in
            memory.initializeMemory(as: UInt8.self, repeating: 7)
        }
    }

    /// Exercises with a provider that protects nothing, so that changed bytes get as far as possible.
    package static func withGuessableTags() throws -> EnvelopeExercise { try EnvelopeExercise(guessableProvider()) }

    /// The address for which everything is opened.
    package static let address = StorageAddress(StorageNamespace(domain: "keychain", scope: "a"), name: "b")

    /// The provider that protects nothing.
    package static func guessableProvider() throws -> LoadedCrypto {
        let table = Plugin.export("GuessableCrypto", version: "0", .crypto(GuessableCrypto.self))
        let image = try PluginImage(linked: table, name: "GuessableCrypto")
        return try image.openCrypto("guessable", options: [:], folder: "/nonexistent", log: SilentLog())
    }

    /// Checks every promise; the bytes are borrowed.
    ///
    /// - Throws: `Violation`.
    package func run(_ bytes: UnsafeRawBufferPointer) throws {
        let header: EnvelopeHeader?
        do throws(EnvelopeFault) { header = try EnvelopeHeader(parsing: bytes) } catch {
            header = nil
            if case .incomplete(let needed) = error, needed <= bytes.count {
                throw Violation("\(bytes.count) bytes are said to be too few, and \(needed) enough")
            }
        }
        if let header { try check(header, bytes) }
        let whole = openWhole(bytes)
        if let header, case .success(let value) = whole, header.extent(of: UInt64(bytes.count))?.value != value.count {
            throw Violation("a value of \(value.count) bytes does not have the size that follows from its envelope's")
        }
        if header == nil, case .success = whole { throw Violation("bytes without a header were opened") }
        for size in [max(1, bytes.count), 61, 1] where size > 1 || bytes.count <= 256 {
            let (opened, failure) = openPieces(bytes, of: size)
            switch whole {
            case .success(let value) where failure != nil || value != opened:
                throw Violation("what opens in one call does not in pieces of \(size) bytes")
            case .failure where failure == nil:
                throw Violation("what opens in pieces of \(size) bytes does not in one call")
            case .failure(let error) where error.code != failure?.code || error.message != failure?.message:
                throw Violation(
                    "'\(error.message)' in one call is '\(failure?.message ?? "")' in pieces of \(size) bytes")
            default: break
            }
        }
    }

    /// Checks that a header has only one encoding, and that it is reported as incomplete without its last byte.
    private func check(_ header: EnvelopeHeader, _ bytes: UnsafeRawBufferPointer) throws {
        let again = try EnvelopeHeader(
            cipher: header.cipher, derivation: header.derivation, chunkExponent: header.chunkExponent,
            keyID: header.keyID, salt: header.salt, attributes: header.attributes, ring: header.ring)
        guard again.encoded == header.encoded, again.encoded.elementsEqual(bytes.prefix(again.encoded.count)) else {
            throw Violation("a header that was read is written as other bytes")
        }
        let start = UnsafeRawBufferPointer(rebasing: bytes[..<(header.encoded.count - 1)])
        do throws(EnvelopeFault) {
            _ = try EnvelopeHeader(parsing: start)
            throw .malformed("")
        } catch {
            guard error == .incomplete(needs: header.encoded.count) else {
                throw Violation("a header without its last byte is not said to be incomplete")
            }
        }
    }

    /// The key for any header.
    private func find(_ header: EnvelopeHeader) -> EnvelopeKey { EnvelopeKey(material, id: header.keyID) }

    private func openWhole(_ bytes: UnsafeRawBufferPointer) -> Result<Data, StorageError> {
        Result { () throws(StorageError) in try envelope.open(Data(bytes), find: find).value }
    }

    /// The bytes handed out, from memory that is exactly as long as each piece, and the error that ends them.
    private func openPieces(_ bytes: UnsafeRawBufferPointer, of size: Int) -> (Data, StorageError?) {
        let opener = EnvelopeOpener(envelope, find: find)
        var value = Data()
        func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
            value.append(contentsOf: bytes)
            return true
        }
        do throws(StorageError) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: min(size, rest.count), alignment: 1)
                defer { piece.deallocate() }
                piece.copyBytes(from: rest.prefix(size))
                rest = rest.dropFirst(size)
                _ = try opener.take(UnsafeRawBufferPointer(piece), keep)
            }
            try opener.finish(keep)
            return (value, nil)
        } catch { return (value, error) }
    }
}
