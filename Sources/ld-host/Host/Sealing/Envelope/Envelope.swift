internal import ByteCoding
package import FoundationEssentials
internal import HostGround
package import HostPlugins
package import LocalDataAPI

/// Seals the values of one address, and opens them.
package struct Envelope: Sendable {
    package let context: EnvelopeContext
    package let crypto: LoadedCrypto
    /// The same address with other paths of its folder, tried if a value does not open. May wait.
    private let others: @Sendable () -> [StorageAddress]

    /// Creates an envelope for an address.
    package init(
        _ address: StorageAddress, crypto: LoadedCrypto, others: @escaping @Sendable () -> [StorageAddress] = { [] }
    ) {
        context = EnvelopeContext(address)
        self.crypto = crypto
        self.others = others
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
        let total = header.count + value.count + count * tagSize
        let (sealed, failure) = value.withBuffer { value in
            filled(total) { (output) throws(StorageError) in
                output.copyBytes(from: header)
                var at = header.count
                for index in 0..<count {
                    let plaintext = value[index * size..<min(value.count, (index + 1) * size)]
                    let chunk = output[at..<at + plaintext.count + tagSize]
                    try chunks.seal(
                        UnsafeRawBufferPointer(rebasing: plaintext), isLast: index == count - 1,
                        into: UnsafeMutableRawBufferPointer(rebasing: chunk))
                    at += chunk.count
                }
            }
        }
        if let failure { throw failure }
        return sealed
    }

    /// The value of a sealed form, with its header, which is then authentic.
    ///
    /// - Throws: `cannotOpen`, always with the same text unless the cause is another version, an algorithm that the
    ///   provider lacks, or another key; what `find` throws.
    package func open(
        _ sealed: Data, find: KeyFinder
    ) throws(StorageError) -> (value: Data, header: EnvelopeHeader) {
        let header = try header(of: sealed)
        return (try open(sealed, header, find: find), header)
    }

    /// The header of a sealed form, not yet authentic.
    ///
    /// - Throws: `cannotOpen`.
    package func header(of sealed: Data) throws(StorageError) -> EnvelopeHeader {
        try sealed.withBuffer { (sealed) throws(StorageError) in
            do throws(EnvelopeFault) { return try EnvelopeHeader(parsing: sealed) } catch {
                throw context.cannotOpen(error)
            }
        }
    }

    /// The value of a sealed form that starts with a header.
    package func open(_ sealed: Data, _ header: EnvelopeHeader, find: KeyFinder) throws(StorageError) -> Data {
        try sealed.withBuffer { (sealed) throws(StorageError) in
            let body = UnsafeRawBufferPointer(rebasing: sealed[header.encoded.count...])
            guard let (count, size) = header.extent(of: UInt64(sealed.count)) else { throw context.cannotOpen }
            let (sealedSize, tagSize) = (header.chunkSize + header.cipher.tagSize, header.cipher.tagSize)
            var mark: Int?
            var chunks = try chunks(header) { (header) throws(StorageError) in
                let key = try find(header)
                guard header.derivation.isSlow else { return key }
                let sought = SlowDerivations.mark(sealed, context.authenticated(header), key)
                if SlowDerivations.isRefused(sought) { throw context.cannotOpen }
                mark = sought
                return key
            }
            let (value, failure) = filled(size) { (output) throws(StorageError) in
                for index in 0..<count {
                    let chunk = body[index * sealedSize..<min(body.count, (index + 1) * sealedSize)]
                    let at = index * header.chunkSize
                    try chunks.open(
                        UnsafeRawBufferPointer(rebasing: chunk), isLast: index == count - 1,
                        into: UnsafeMutableRawBufferPointer(rebasing: output[at..<at + chunk.count - tagSize]))
                }
            }
            if let failure {
                if let mark, failure.code == .cannotOpen { SlowDerivations.refuse(mark) }
                throw named(failure)
            }
            return value
        }
    }

    /// Throws `unsupported` unless the provider offers every algorithm that a style needs.
    package func requireAlgorithms(of style: EnvelopeStyle) throws(StorageError) {
        try crypto.require(style.cipher.id, "\(style.cipher)")
        try crypto.require(style.derivation.function.rawValue, "\(style.derivation.function)")
    }

    /// The chunks of a record to be sealed.
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

    /// The chunks of a record to be opened.
    func chunks(_ header: EnvelopeHeader, find: KeyFinder) throws(StorageError) -> EnvelopeChunks {
        guard crypto.offers(header.cipher) else { throw context.cannotOpen("\(header.cipher)", crypto) }
        guard crypto.offers(header.derivation.function) else {
            throw context.cannotOpen("\(header.derivation.function)", crypto)
        }
        let recordKey = try RecordKey(find(header), header.derivation, salt: header.salt, for: header.cipher, crypto)
        guard recordKey.id == header.keyID else {
            throw StorageError(
                .cannotOpen,
                "'\(context.address)' cannot be opened: the given key or passphrase is not the one that sealed "
                    + "it; it stays as it is",
                hint: "give the right one")
        }
        return EnvelopeChunks(header, recordKey, context, crypto, others: others)
    }

    /// Replaces a provider's own text for a wrong tag with the one that names the address.
    func named(_ error: StorageError) -> StorageError { error.code == .cannotOpen ? context.cannotOpen : error }

    private func random(_ count: Int) throws(StorageError) -> Data {
        let (bytes, failure) = filled(count) { (bytes) throws(StorageError) in try crypto.random(into: bytes) }
        if let failure { throw failure }
        return bytes
    }
}

/// Why bytes are not a header that this version can read.
package enum EnvelopeFault: Error, Equatable, Sendable {
    /// They do not start like an envelope.
    case notAnEnvelope
    /// They start like an envelope but end too early; with this many bytes in total, parsing can continue.
    case incomplete(needs: Int)
    /// Another version wrote them.
    case version(UInt8)
    /// They violate the specification: the offending content.
    case malformed(String)
}

extension EnvelopeFault: CustomStringConvertible {
    /// The fault, as the rest of a sentence whose subject is the bytes.
    package var description: String {
        switch self {
        case .notAnEnvelope: "is not sealed: it does not start with the bytes 89 4c 44 45"
        case .incomplete(let needed):
            "ends inside its header, which has at least \(max(needed, EnvelopeHeader.fixedSize)) bytes"
        case .version(let version):
            "is an envelope of version \(version); this program reads version \(EnvelopeHeader.version)"
        case .malformed(let what): "has a header with \(what)"
        }
    }
}
