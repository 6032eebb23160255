internal import CLocalData
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

extension LoadedStore {
    /// The ids of the optional abilities that the store has.
    package var abilityIDs: [String] { abilities.ids }

    /// Passes all names of a namespace in order, with one page of them in memory, so that the store can be called for
    /// each.
    ///
    /// - Throws: As ``forEachName(in:prefix:after:limit:_:)``; what `body` throws.
    package func forEachName(
        inPagesOf place: StorageNamespace, _ body: (String) throws(StorageError) -> Void
    ) throws(StorageError) {
        let size = 8192
        var names: [String] = []
        repeat {
            let last = names.last
            names = []
            try forEachName(in: place, after: last, limit: size) {
                names.append($0)
                return true
            }
            for name in names { try body(name) }
        } while names.count == size
    }

    /// Passes names as ``EnumerableBackend`` promises, and stops at an invalid one.
    ///
    /// - Throws: `unsupported` if the store cannot list; `corrupt` for a name that is invalid, outside of the prefix or
    ///   the limit, or not after the one before.
    package func forEachName(
        in place: StorageNamespace, prefix: String = "", after: String? = nil, limit: Int? = nil,
        _ body: (String) -> Bool
    ) throws(StorageError) {
        guard let enumeration = abilities.enumeration else { throw lacks("enumeration") }
        if after == nil { sweepBeforeListing(place) }
        var order = NameOrder(in: place, prefix: prefix, after: after)
        var count = 0
        _ = try site("names").pieces { bytes in
            if let flaw = order.take(bytes) { return .broken(flaw) }
            count += 1
            guard limit.map({ $0 == 0 || count <= $0 }) ?? true else {
                return .broken("it listed more names in '\(place)' than the requested \(limit ?? 0)")
            }
            return body(String(decoding: bytes, as: UTF8.self)) ? .more : .enough
        } _: { sink, error in
            place.withBoundary { place in
                prefix.withBytes { prefix in
                    (after ?? "").withBytes { after in
                        enumeration.names(table.`self`, place, prefix, after, UInt64(limit ?? 0), sink, error)
                    }
                }
            }
        }
    }

    /// Passes the namespaces that hold a value and have no folder.
    ///
    /// - Throws: `unsupported` if the store cannot list; `corrupt` for a namespace that is invalid or repeated.
    package func forEachPlace(_ body: (StorageNamespace) -> Bool) throws(StorageError) {
        guard let enumeration = abilities.enumeration else { throw lacks("enumeration") }
        sweepBeforeListing(nil)
        var known: Set<StorageNamespace> = []
        _ = try site("places").pieces { bytes in
            let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            guard let domain = String(validating: parts[0], as: UTF8.self),
                let scope = parts.count > 1 ? String(validating: parts[1], as: UTF8.self) : ""
            else { return .broken("it listed a namespace that is not UTF-8") }
            let place = StorageNamespace(domain: domain, scope: scope)
            do throws(StorageError) { try place.validate() } catch {
                return .broken("it listed an invalid namespace: \(error.message)")
            }
            guard known.insert(place).inserted else { return .broken("it listed the namespace '\(place)' twice") }
            return body(place) ? .more : .enough
        } _: { sink, error in
            enumeration.places(table.`self`, sink, error)
        }
    }

    /// A value's attributes; `nil` if there is no value. All are unknown if the store keeps none.
    package func attributes(of handle: StoreHandle) throws(StorageError) -> ValueAttributes? {
        guard let abilities = abilities.attributes else { throw lacks("attributes") }
        var result: ValueAttributes?
        let call = site("attributes")
        let status = try discardingExpired(handle, absent: LD_ABSENT) { () throws(StorageError) in
            try call.receiving(.attributes, &result, .current) { slot in
                abilities.attributes(
                    table.`self`, handle.pointer, slot.pointee.number, takeAttributes, slot.pointee.error)
            }
        }
        guard (status == LD_OK) == (result != nil) else {
            throw call.violation(
                "it returned status \(status) and passed \(result == nil ? "no " : "")attributes")
        }
        return result
    }

    /// A value and its version tag, both of the same write; `nil` if there is no value. The tag is unknown if the store
    /// keeps no attributes.
    package func tagged(_ handle: StoreHandle) throws(StorageError) -> (value: Data, tag: String?)? {
        guard abilities.attributes != nil else { return try get(handle).map { ($0, nil) } }
        guard abilities.conditional == nil else {
            return try revisioned(handle).map { ($0.data, $0.attributes.versionTag) }
        }
        // Attributes that are the same before and after the value is read are the value's.
        for _ in 0..<16 {
            let before = try attributes(of: handle)
            guard let value = try get(handle) else { return nil }
            guard let before, try attributes(of: handle) == before else { continue }
            return (value, before.versionTag)
        }
        throw StorageError(.busy, "the value was changed again and again while it was read", hint: "try again")
    }

    /// Passes a value in pieces; `false` if absent. Passes one piece if the store does not stream.
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
        var isEmpty = true
        let call = site("streaming read")
        let status = try discardingExpired(handle, absent: LD_ABSENT) { () throws(StorageError) in
            try call.pieces(.current) { piece in
                isEmpty = false
                return body(piece) ? .more : .enough
            } _: { sink, error in
                streaming.read(table.`self`, handle.pointer, sink, error)
            }
        }
        guard status != LD_ABSENT || isEmpty else {
            throw call.violation("it wrote a value but returned status \(status), which means absent")
        }
        return status != LD_ABSENT
    }

    /// Stores the value that `fill` supplies: it fills the buffer and returns the number of bytes, 0 at the end. If it
    /// throws, the old value stays. A store that does not stream gets the value whole.
    package func write(
        _ handle: StoreHandle, attributes: ValueAttributes?,
        from fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        guard let streaming = abilities.streaming else {
            var value = GatheredBytes()
            while try value.add(from: { try HostPlugins.fill($0, from: fill) }) {}
            return try set(handle, to: value.bytes, attributes: attributes)
        }
        try checkExpiry(attributes)
        try withoutActuallyEscaping(fill) { fill in
            var source = PieceSource(fill: fill)
            let call = site("streaming write")
            let status = Result { () throws(StorageError) in
                try passing(handle) { () throws(StorageError) in
                    try call.receiving(.source, &source) { slot in
                        let (pieces, error) = (slot.pointee.source, slot.pointee.error)
                        guard let attributes else {
                            return streaming.write(table.`self`, handle.pointer, pieces, nil, error)
                        }
                        return attributes.withBoundary {
                            streaming.write(table.`self`, handle.pointer, pieces, $0, error)
                        }
                    }
                }
            }
            // The error of the caller's own source says more than the store's reaction to it.
            if let failure = source.failure { throw failure }
            guard try status.get() == LD_OK, source.isAtEnd else {
                throw call.violation("it stored a value without having read it to its end")
            }
        }
    }
}

/// Requests one piece. A count that exceeds the buffer is the source's mistake and must not truncate the value.
private func fill(
    _ buffer: UnsafeMutableRawBufferPointer, from fill: (UnsafeMutableRawBufferPointer) throws -> Int
) throws -> Int {
    let count = try fill(buffer)
    guard (0...buffer.count).contains(count) else {
        throw StorageError(.unknown, "the source of a value returned \(count) bytes; expected 0 to \(buffer.count)")
    }
    return count
}

/// Supplies a value piece by piece, and records whether it reached the end or why it gave up.
private struct PieceSource {
    let fill: (UnsafeMutableRawBufferPointer) throws -> Int
    var failure: (any Error)?
    var isAtEnd = false

    /// The most bytes supplied at once, however many are requested.
    static let largest = 1 << 20
}

func givePiece(context: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, capacity: Int) -> Int64 {
    guard let slot = CallSlot.running(context, .source),
        let source = slot.pointee.receiver?.assumingMemoryBound(to: PieceSource.self), !slot.pointee.wasStopped
    else { return -1 }
    guard let buffer, capacity > 0 else {
        slot.pointee.reportViolation(
            "it requested \(UInt(bitPattern: capacity)) bytes \(buffer == nil ? "at the address NULL" : "of a value")")
        return -1
    }
    guard !source.pointee.isAtEnd else { return 0 }
    do {
        let piece = UnsafeMutableRawBufferPointer(start: buffer, count: min(capacity, PieceSource.largest))
        let count = try fill(piece, from: source.pointee.fill)
        source.pointee.isAtEnd = count == 0
        return Int64(count)
    } catch {
        source.pointee.failure = error
        slot.pointee.wasStopped = true
        return -1
    }
}

private func takeAttributes(context: UnsafeMutableRawPointer?, attributes: UnsafePointer<ld_attributes>?) {
    guard let slot = CallSlot.running(context, .attributes), let receiver = slot.pointee.receiver else { return }
    let result = receiver.assumingMemoryBound(to: ValueAttributes?.self)
    guard let attributes else { return slot.pointee.reportViolation("it passed attributes at the address NULL") }
    guard result.pointee == nil else { return slot.pointee.reportViolation("it passed attributes twice") }
    do throws(StorageError) { result.pointee = try ValueAttributes(attributes) } catch {
        slot.pointee.reportViolation(error.message)
    }
}

/// Bytes that arrive in pieces, collected in memory that is cleared before it is freed.
package struct GatheredBytes: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    package init() { memory = .allocate(byteCount: Self.pieceSize, alignment: 16) }

    deinit {
        clear(memory)
        memory.deallocate()
    }

    /// The bytes; valid until more are added.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Adds the bytes that `fill` writes into a buffer; `fill` returns their number.
    ///
    /// - Returns: Whether there were any.
    package mutating func add(from fill: (UnsafeMutableRawBufferPointer) throws -> Int) throws -> Bool {
        if memory.count - count < Self.pieceSize { grow() }
        let given = try fill(UnsafeMutableRawBufferPointer(rebasing: memory[count...].prefix(Self.pieceSize)))
        count += given
        return given > 0
    }

    private mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * memory.count, alignment: 16)
        larger.copyMemory(from: bytes)
        clear(memory)
        memory.deallocate()
        memory = larger
    }

    /// The most bytes requested at once.
    private static let pieceSize = 256 << 10
}
