package import FoundationEssentials
package import LocalDataAPI

/// Seals the values of one address, and opens them.
package struct Envelope: Sendable {
    package let context: EnvelopeContext
    package let crypto: LoadedCrypto

    /// Seals and opens for an address.
    package init(_ address: StorageAddress, crypto: LoadedCrypto) {
        context = EnvelopeContext(address)
        self.crypto = crypto
    }

    /// Finds the key of a header.
    package typealias KeyFinder = (EnvelopeHeader) throws(StorageError) -> EnvelopeKey

    /// The sealed form of a value.
    package func seal(
        _ value: Data, under key: EnvelopeKey, as style: EnvelopeStyle, attributes: ValueAttributes? = nil
    ) throws(StorageError) -> Data {
        var chunks = try chunks(under: key, as: style, attributes: attributes)
        let (header, size) = (chunks.header.encoded, chunks.header.chunkSize)
        let tagSize = chunks.header.cipher.tagSize
        let count = max(1, (value.count + size - 1) / size)
        var sealed = Data(count: header.count + value.count + count * tagSize)
        let failure: StorageError? = value.withUnsafeBytes { value in
            sealed.withUnsafeMutableBytes { output in
                output.copyBytes(from: header)
                var at = header.count
                do throws(StorageError) {
                    for index in 0..<count {
                        let plaintext = value[index * size..<min(value.count, (index + 1) * size)]
                        let chunk = output[at..<at + plaintext.count + tagSize]
                        try chunks.seal(
                            UnsafeRawBufferPointer(rebasing: plaintext), isLast: index == count - 1,
                            into: UnsafeMutableRawBufferPointer(rebasing: chunk))
                        at += chunk.count
                    }
                    return nil
                } catch {
                    return error
                }
            }
        }
        if let failure { throw failure }
        return sealed
    }

    /// The value of a sealed form, with the header that is now known to be authentic.
    ///
    /// - Throws: `cannotOpen`, always with one text unless another version, an algorithm that the provider lacks, or
    ///   another key is in question; what `find` throws.
    package func open(
        _ sealed: Data, find: KeyFinder
    ) throws(StorageError) -> (value: Data, header: EnvelopeHeader) {
        try sealed.withBuffer { (sealed) throws(StorageError) in
            let header: EnvelopeHeader
            do throws(EnvelopeFault) { header = try EnvelopeHeader(parsing: sealed) } catch {
                throw context.cannotOpen(error)
            }
            let body = UnsafeRawBufferPointer(rebasing: sealed[header.encoded.count...])
            guard let (count, size) = header.extent(of: UInt64(sealed.count)) else { throw context.cannotOpen }
            let (sealedSize, tagSize) = (header.chunkSize + header.cipher.tagSize, header.cipher.tagSize)
            var chunks = try chunks(header, find: find)
            var value = Data(count: size)
            let failure: StorageError? = value.withUnsafeMutableBytes { output in
                do throws(StorageError) {
                    for index in 0..<count {
                        let chunk = body[index * sealedSize..<min(body.count, (index + 1) * sealedSize)]
                        let at = index * header.chunkSize
                        try chunks.open(
                            UnsafeRawBufferPointer(rebasing: chunk), isLast: index == count - 1,
                            into: UnsafeMutableRawBufferPointer(rebasing: output[at..<at + chunk.count - tagSize]))
                    }
                    return nil
                } catch {
                    clear(output)
                    return error
                }
            }
            if let failure { throw named(failure) }
            return (value, header)
        }
    }

    /// The chunks of a record that is to be sealed.
    func chunks(
        under key: EnvelopeKey, as style: EnvelopeStyle, attributes: ValueAttributes?
    ) throws(StorageError) -> EnvelopeChunks {
        try crypto.require(style.cipher.id, "\(style.cipher)")
        let salt = try random(EnvelopeHeader.saltSize)
        let derivation = try style.derivation(random)
        let recordKey = try RecordKey(key, derivation, salt: salt, for: style.cipher, crypto)
        let header = try EnvelopeHeader(
            cipher: style.cipher, derivation: derivation, chunkExponent: style.chunkExponent, keyID: recordKey.id,
            salt: salt, attributes: attributes ?? ValueAttributes(), ring: key.ring)
        return EnvelopeChunks(header, recordKey, context, crypto)
    }

    /// The chunks of a record that is to be opened.
    func chunks(_ header: EnvelopeHeader, find: KeyFinder) throws(StorageError) -> EnvelopeChunks {
        guard crypto.offers(header.cipher) else { throw context.cannotOpen("\(header.cipher)", crypto) }
        guard crypto.offers(header.derivation.function) else {
            throw context.cannotOpen("\(header.derivation.function)", crypto)
        }
        let recordKey = try RecordKey(find(header), header.derivation, salt: header.salt, for: header.cipher, crypto)
        guard recordKey.id == header.keyID else {
            throw StorageError(
                .cannotOpen,
                "'\(context.address)' cannot be opened: the key or passphrase that was given is not the one that sealed "
                    + "it; it stays as it is",
                hint: "give the right one")
        }
        return EnvelopeChunks(header, recordKey, context, crypto)
    }

    /// A provider's own text for a wrong tag gives way to the one that names the address.
    func named(_ error: StorageError) -> StorageError { error.code == .cannotOpen ? context.cannotOpen : error }

    private func random(_ count: Int) throws(StorageError) -> Data {
        var bytes = Data(count: count)
        let failure: StorageError? = bytes.withUnsafeMutableBytes { buffer in
            do throws(StorageError) {
                try crypto.random(into: buffer)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
        return bytes
    }
}
