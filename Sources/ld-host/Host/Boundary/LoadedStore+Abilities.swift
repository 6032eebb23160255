internal import CLocalData
internal import FoundationEssentials
package import LocalDataAPI

extension LoadedStore {
    /// The ids of the optional abilities that the store has.
    package var abilityIDs: [String] { abilities.ids }

    /// Hands out names as ``EnumerableBackend`` promises.
    package func forEachName(
        in place: StorageNamespace, prefix: String = "", after: String? = nil, limit: Int? = nil,
        _ body: (String) -> Bool
    ) throws(StorageError) {
        guard let enumeration = abilities.enumeration else { throw lacks("enumeration") }
        var invalid = false
        _ = try PieceSink.forEach({ bytes in
            guard let name = String(validating: bytes, as: UTF8.self) else {
                invalid = true
                return false
            }
            return body(name)
        }) { (sink) throws(StorageError) in
            try ReportSink.call { error in
                place.withBoundary { place in
                    prefix.withBytes { prefix in
                        (after ?? "").withBytes { after in
                            enumeration.names(table.`self`, place, prefix, after, UInt64(limit ?? 0), sink, error)
                        }
                    }
                }
            }
        }
        if invalid { throw StorageError(.corrupt, "the store listed a name in '\(place)' that is not UTF-8") }
    }

    /// Hands out the places of the store's own choosing that hold a value.
    package func forEachPlace(_ body: (StorageNamespace) -> Bool) throws(StorageError) {
        guard let enumeration = abilities.enumeration else { throw lacks("enumeration") }
        _ = try PieceSink.forEach({ bytes in
            let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            guard let domain = String(validating: parts[0], as: UTF8.self),
                let scope = parts.count > 1 ? String(validating: parts[1], as: UTF8.self) : ""
            else { return true }
            return body(StorageNamespace(domain: domain, scope: scope))
        }) { (sink) throws(StorageError) in
            try ReportSink.call { enumeration.places(table.`self`, sink, $0) }
        }
    }

    /// A value's attributes; `nil` if there is no value. A store that keeps none has none to tell.
    package func attributes(of handle: StoreHandle) throws(StorageError) -> ValueAttributes? {
        guard let abilities = abilities.attributes else { throw lacks("attributes") }
        var result: ValueAttributes?
        let status = try ReportSink.call { error in
            withUnsafeMutablePointer(to: &result) {
                abilities.attributes(table.`self`, handle.pointer, $0, takeAttributes, error)
            }
        }
        return status == LD_OK ? result : nil
    }

    /// Hands out a value in pieces; `false` if there is none. Falls back to one piece for stores that do not stream.
    package func read(
        _ handle: StoreHandle, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(StorageError) -> Bool {
        guard let streaming = abilities.streaming else {
            guard var data = try get(handle) else { return false }
            defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
            // As with stores that stream, an empty value has no pieces.
            if !data.isEmpty { _ = data.withUnsafeBytes { body($0) } }
            return true
        }
        return try PieceSink.forEach(body) { (sink) throws(StorageError) in
            try ReportSink.call { streaming.read(table.`self`, handle.pointer, sink, $0) }
        } != LD_ABSENT
    }

    /// Stores the value that `fill` gives: it fills the buffer, says how many bytes, and 0 at the end. If it throws,
    /// the old value stands. A store that does not stream gets the value whole.
    package func write(
        _ handle: StoreHandle, attributes: ValueAttributes?,
        from fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        guard let streaming = abilities.streaming else {
            var value = GatheredBytes()
            while try value.add(from: { try piece(fill, $0) }) {}
            return try set(handle, to: value.bytes, attributes: attributes)
        }
        try withoutActuallyEscaping(fill) { fill in
            var source = PieceSource(fill: fill)
            let status: Result<Int32, StorageError> = withUnsafeMutablePointer(to: &source) { source in
                var table = ld_source(size: UInt32(MemoryLayout<ld_source>.size), context: source, read: givePiece)
                let call = { (error: UnsafePointer<ld_error_sink>) in
                    guard let attributes else {
                        return streaming.write(self.table.`self`, handle.pointer, &table, nil, error)
                    }
                    return attributes.withBoundary {
                        streaming.write(self.table.`self`, handle.pointer, &table, $0, error)
                    }
                }
                return Result { () throws(StorageError) in try ReportSink.call(call) }
            }
            // Why the caller's own source gave up says more than what the store made of it.
            if let failure = source.failure { throw failure }
            guard try status.get() == LD_OK else { throw stopped("writing a value") }
        }
    }

}

/// Asks for one piece; a count that the buffer cannot hold is the source's mistake and must not become a short value.
private func piece(
    _ fill: (UnsafeMutableRawBufferPointer) throws -> Int, _ buffer: UnsafeMutableRawBufferPointer
) throws -> Int {
    let count = try fill(buffer)
    guard (0...buffer.count).contains(count) else {
        throw StorageError(.unknown, "the source of a value gave \(count) bytes; expected 0 to \(buffer.count)")
    }
    return count
}

/// Gives a value piece by piece, and remembers why it gave up.
private struct PieceSource {
    let fill: (UnsafeMutableRawBufferPointer) throws -> Int
    var failure: (any Error)?
}

private func givePiece(context: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, capacity: Int) -> Int64 {
    guard let source = context?.assumingMemoryBound(to: PieceSource.self), let buffer else { return -1 }
    do {
        return Int64(try piece(source.pointee.fill, UnsafeMutableRawBufferPointer(start: buffer, count: capacity)))
    } catch {
        source.pointee.failure = error
        return -1
    }
}

private func takeAttributes(context: UnsafeMutableRawPointer?, attributes: UnsafePointer<ld_attributes>?) {
    guard let context, let attributes else { return }
    context.assumingMemoryBound(to: ValueAttributes?.self).pointee = ValueAttributes(attributes)
}
