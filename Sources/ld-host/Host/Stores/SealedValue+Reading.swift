package import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostSealing
package import LocalDataAPI

extension SealedValue {
    /// Passes the value in pieces, in order, until `body` returns `false`; `false` if absent.
    ///
    /// - Throws: `cannotOpen`, before anything was passed on, unless only chunks are verified or the value was changed
    ///   between the two passes; `busy` if it was repeatedly replaced between them.
    package func read(
        _ verification: StreamVerification, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(StorageError) -> Bool {
        guard !layers.isEmpty else { return try store.read(handle, body) }
        guard verification == .whole else { return try pass(only: nil, body) != nil }
        for _ in 0..<MoveLimits.readings {
            guard let verified = try pass(only: nil, { _ in true }) else { return false }
            if try pass(only: verified.outer.salt, body) != nil { return true }
        }
        throw StorageError(
            .busy, "'\(layers[0].envelope.context.address)' was replaced each time it was being read",
            hint: "try again")
    }

    /// The header of the innermost envelope and the size of the value, once the whole value has been verified; `nil` if
    /// there is no value.
    package func verified() throws(StorageError) -> (header: EnvelopeHeader, size: Int)? {
        var size = 0
        let headers = try pass(only: nil) {
            size += $0.count
            return true
        }
        return headers.map { ($0.inner, size) }
    }

    /// The value's attributes: those in its innermost envelope, whose first chunk is verified, and the store's size and
    /// times; `nil` if there is no value.
    ///
    /// - Parameter deriving: Whether a slow derivation is allowed; if not, a value that needs one has only size and
    ///   time.
    package func attributes(deriving: Bool = true) throws(StorageError) -> ValueAttributes? {
        let kept = store.abilities.attributes == nil ? nil : try store.attributes(of: handle)
        guard !layers.isEmpty else {
            if let kept { return kept }
            return try store.exists(handle) ? ValueAttributes() : nil
        }
        guard let headers = try pass(only: nil, deriving: deriving, { _ in false }) else { return nil }
        var attributes = deriving || !headers.inner.derivation.isSlow ? headers.inner.attributes : ValueAttributes()
        attributes.modified = kept?.modified
        attributes.expires = kept?.expires
        attributes.size = kept?.size.flatMap { headers.outer.valueSize(ofEnvelope: $0) }
        if layers.count > 1 { attributes.size = attributes.size.flatMap { headers.inner.valueSize(ofEnvelope: $0) } }
        return attributes
    }

    /// The value and the attributes of the same write; `nil` if absent.
    ///
    /// - Throws: `busy` if it was changed again and again while it was read.
    package func attributed() throws(StorageError) -> (value: Data, attributes: ValueAttributes)? {
        if store.abilities.conditional != nil { return try revisioned().map { ($0.data, $0.attributes) } }
        for _ in 0..<MoveLimits.readings {
            guard let before = try attributes(), let value = try get() else { return nil }
            if try attributes() == before { return (value, before) }
        }
        throw StorageError(.busy, "the value was changed again and again while it was read", hint: "try again")
    }

    /// Reads and opens the value once.
    ///
    /// - Parameters:
    ///   - only: The salt of the record to read; other records are not passed on.
    ///   - deriving: Whether a slow derivation is allowed; if not, a value that needs one is neither opened nor
    ///     verified.
    /// - Returns: The outermost and the innermost header, or `nil` if there is no value, or another one than requested.
    private func pass(
        only expected: Data?, deriving: Bool = true, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(StorageError) -> (outer: EnvelopeHeader, inner: EnvelopeHeader)? {
        var keys: [FoundKey] = []
        for _ in 0..<MoveLimits.readings {
            var missing: (layer: Int, header: EnvelopeHeader)?
            let headers = try pass(only: expected, deriving, keys, missing: &missing, body)
            guard let (layer, header) = missing else { return headers }
            let key = try layers.reversed()[layer].find(header)
            keys.append(FoundKey(layer: layer, ring: header.ring, id: header.keyID, key: key))
        }
        throw StorageError(.busy, "the value was changed again and again while it was read", hint: "try again")
    }

    /// A key that a header names.
    private struct FoundKey {
        /// The number of the layer, from the outermost one.
        let layer: Int
        let ring: String?
        let id: KeyID
        let key: EnvelopeKey
    }

    /// The same, with keys that are found already.
    ///
    /// - Parameter missing: The first header whose key would have to be waited for: the store must not be called while
    ///   it passes a value, and a ring may be stored in it. Nothing was passed on then.
    private func pass(
        only expected: Data?, _ deriving: Bool, _ keys: [FoundKey],
        missing: inout (layer: Int, header: EnvelopeHeader)?,
        _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(StorageError) -> (outer: EnvelopeHeader, inner: EnvelopeHeader)? {
        var failure: StorageError?
        var isOther = false
        var slow: EnvelopeHeader?
        var unknown: (layer: Int, header: EnvelopeHeader)?
        let openers = layers.reversed().enumerated().map { index, layer in
            EnvelopeOpener(layer.envelope) { (header) throws(StorageError) in
                if index == 0, let expected, header.salt != expected { isOther = true }
                // Thrown before the first chunk is opened, and handled by the caller.
                if isOther { throw StorageError(.busy) }
                if !deriving, header.derivation.isSlow {
                    slow = header
                    throw StorageError(.busy)
                }
                let known = keys.first { $0.layer == index && $0.id == header.keyID && $0.ring == header.ring }
                if let known { return known.key }
                guard layer.knows(header) else {
                    unknown = (index, header)
                    throw StorageError(.busy)
                }
                return try layer.find(header)
            }
        }
        let found = try withoutActuallyEscaping(body) { (body) throws(StorageError) in
            let push = Self.chain(openers[...], body) { failure = $0 }
            var continues = true
            let found = try stored { () throws(StorageError) in
                try store.read(handle) { piece in
                    continues = push(piece)
                    return continues
                }
            }
            if found, continues { Self.finish(openers[...], body) { failure = $0 } }
            return found
        }
        if isOther { return nil }
        missing = unknown
        guard unknown == nil else { return nil }
        if let slow { return (openers.first?.parsedHeader ?? slow, slow) }
        if let failure { throw failure }
        guard found, let outer = openers.first?.parsedHeader, let inner = openers.last?.parsedHeader else { return nil }
        return (outer, inner)
    }

    /// Passes pieces through openers, outermost first.
    private static func chain(
        _ openers: ArraySlice<EnvelopeOpener>, _ body: @escaping (UnsafeRawBufferPointer) -> Bool,
        _ fail: @escaping (StorageError) -> Void
    ) -> (UnsafeRawBufferPointer) -> Bool {
        guard let opener = openers.first else { return body }
        let next = chain(openers.dropFirst(), body, fail)
        return { piece in
            do throws(StorageError) { return try opener.take(piece, next) } catch {
                fail(error)
                return false
            }
        }
    }

    /// Ends the openers, outermost first: each passes its last chunk to the next ones.
    private static func finish(
        _ openers: ArraySlice<EnvelopeOpener>, _ body: @escaping (UnsafeRawBufferPointer) -> Bool,
        _ fail: @escaping (StorageError) -> Void
    ) {
        guard let opener = openers.first else { return }
        var continues = true
        let next = chain(openers.dropFirst(), body, fail)
        do throws(StorageError) {
            try opener.finish { piece in
                continues = next(piece)
                return continues
            }
        } catch { return fail(error) }
        // An opener that failed or was stopped has not passed on all of its last chunk.
        if continues { finish(openers.dropFirst(), body, fail) }
    }
}

extension StorageError {
    /// Whether reading has failed for a reason that other values need not share.
    package var isOfOneValue: Bool {
        [.corrupt, .cannotOpen, .securityApplicationFailed, .permissionDenied, .fileError].contains(code)
    }
}

/// The start of a value behind its layers.
package enum EnvelopeStart {
    /// An envelope's header; not authentic.
    case header(EnvelopeHeader)
    /// The header of a later version's envelope.
    case later(version: UInt8)
    /// No envelope, or no value.
    case other

    /// Whether a store has sealed the value, and not the policy of its key, whose rings have names.
    package var isOfStore: Bool { if case .header(let header) = self { header.ring == nil } else { false } }

    /// Whether the value is an envelope, of this version or a later one.
    package var isEnvelope: Bool { if case .other = self { false } else { true } }

    /// The start of a whole value.
    package init(_ stored: Data) { self = stored.withBuffer { Self.parsed($0) } ?? .other }

    /// The start of a value that begins so; `nil` if that depends on what follows.
    fileprivate static func parsed(_ bytes: UnsafeRawBufferPointer) -> EnvelopeStart? {
        do throws(EnvelopeFault) { return .header(try EnvelopeHeader(parsing: bytes)) } catch .incomplete {
            return nil
        } catch .version(let version) {
            return .later(version: version)
        } catch {
            return .other
        }
    }
}

extension SealedValue {
    /// Whether the value is an envelope itself, as far as its start says.
    package func start() throws(StorageError) -> EnvelopeStart {
        // A value that is no envelope may be a secret.
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: EnvelopeHeader.largestSize, alignment: 16)
        defer {
            clear(start)
            start.deallocate()
        }
        var count = 0
        var result: EnvelopeStart?
        _ = try read(.chunks) { piece in
            let part = UnsafeRawBufferPointer(rebasing: piece.prefix(start.count - count))
            UnsafeMutableRawBufferPointer(rebasing: start[count...]).copyMemory(from: part)
            count += part.count
            result = EnvelopeStart.parsed(UnsafeRawBufferPointer(rebasing: start[..<count]))
            return result == nil && count < start.count
        }
        return result ?? .other
    }
}
