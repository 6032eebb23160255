internal import ByteCoding
internal import CLocalData
internal import Glibc
package import LocalDataAPI

extension LoadedStore {
    /// A value from a bulk read; its bytes are lent for the call.
    package struct LentValue {
        /// The name in UTF-8.
        package let name: UnsafeRawBufferPointer
        /// `nil` if the value is larger than requested.
        package let value: UnsafeRawBufferPointer?
        /// Changes with each write of the value.
        package let mark: UInt64
        /// Checked on arrival.
        let attributes: ld_attributes?

        /// The value's attributes.
        package func makeAttributes() -> ValueAttributes? { attributes.map { ValueAttributes(checked: $0) } }
    }

    /// Detects repeated attributes, apart from size and time: most values have the same ones.
    package struct RepeatedAttributes {
        private var texts = [RepeatedText](repeating: RepeatedText(), count: 5)
        private var isThere: Bool?
        private var expires: Int64 = 0

        package init() {}

        /// Takes the attributes of the next value.
        ///
        /// - Returns: Whether they differ from the last ones.
        package mutating func take(_ value: LentValue) -> Bool {
            var isNew = isThere != (value.attributes != nil)
            isThere = value.attributes != nil
            guard let given = value.attributes else { return isNew }
            func take(_ text: ld_bytes, at index: Int) {
                // Already checked on arrival.
                if let bytes = text.checked, texts[index].take(bytes) { isNew = true }
            }
            take(given.content_type, at: 0)
            take(given.serializer, at: 1)
            take(given.version_tag, at: 2)
            take(given.app_version, at: 3)
            take(given.owner, at: 4)
            if given.expires != expires { isNew = true }
            expires = given.expires
            return isNew
        }
    }

    /// Passes values as ``BulkBackend`` promises, and stops at an invalid one.
    ///
    /// - Throws: `unsupported` if the store has no bulk reads; `corrupt` for invalid results, as with
    ///   ``forEachName(in:prefix:after:limit:_:)``.
    package func forEachValue(
        in place: StorageNamespace, prefix: String = "", after: String? = nil, largest: Int = .max,
        _ body: (LentValue) -> Bool
    ) throws(StorageError) {
        guard let bulk = abilities.bulk else { throw lacks("bulk reads") }
        if after == nil { sweepBeforeListing(place) }
        let outcome: Result<Int32, StorageError> = withoutActuallyEscaping(body) { body in
            var taker = ValueTaker(
                order: NameOrder(in: place, prefix: prefix, after: after), largest: largest, body: body)
            return Result { () throws(StorageError) in
                try site("bulk read").receiving(.values, &taker) { slot in
                    place.withBoundary { place in
                        prefix.withBytes { prefix in
                            (after ?? "").withBytes { after in
                                bulk.read(
                                    table.`self`, place, prefix, after, UInt64(largest), slot.pointee.number,
                                    takeLentValue, slot.pointee.error)
                            }
                        }
                    }
                }
            }
        }
        _ = try outcome.get()
    }

    /// Applies changes in order, all or none. The last change of a name wins.
    ///
    /// - Returns: The indices of the changes whose expectation failed; if there are any, nothing has changed.
    /// - Throws: As ``apply(_:)``; `corrupt` for an invalid index.
    package func apply(_ changes: BulkChangeList) throws(StorageError) -> [Int] {
        guard let bulk = abilities.bulk else { throw lacks("bulk changes") }
        try checkSize(changes.largestValue)
        if let expiring = changes.expiring { try checkExpiry(expiring) }
        var conflicts = ReceivedConflicts(limit: changes.count)
        do throws(StorageError) {
            _ = try passing({ changes.addresses }) { () throws(StorageError) in
                try site("bulk apply").receiving(.conflicts, &conflicts) { slot in
                    changes.withPointers {
                        bulk.apply(
                            table.`self`, $0.baseAddress, $0.count, slot.pointee.number, takeConflict,
                            slot.pointee.error)
                    }
                }
            }
            guard conflicts.indices.isEmpty else {
                throw site("bulk apply").violation(
                    "it reported \(conflicts.indices.count) unfulfilled conditions, and that all changes were made",
                    code: .unknown)
            }
            return []
        } catch {
            guard error.code == .busy, !conflicts.indices.isEmpty else { throw error }
            return conflicts.indices
        }
    }
}

/// Forwards the values that a store passes.
private struct ValueTaker {
    var order: NameOrder
    let largest: Int
    let body: (LoadedStore.LentValue) -> Bool

    mutating func take(_ value: ld_bulk_value) throws(StorageError) -> PieceVerdict {
        guard let name = value.name.checked else { return .broken("it passed a name of \(value.name.flaw())") }
        if let flaw = order.take(name) { return .broken(flaw) }
        guard value.mark != 0 else { return .broken("it passed a value with the mark 0") }
        var bytes: UnsafeRawBufferPointer?
        if value.omitted == 0 {
            guard let given = value.value.checked else { return .broken("it passed a value of \(value.value.flaw())") }
            guard given.count <= largest else {
                return .broken("it passed a value of \(given.count) bytes; the limit was \(largest)")
            }
            bytes = given
        }
        var attributes: ld_attributes?
        if let given = value.attributes { attributes = try ld_attributes(known: given) }
        return body(LoadedStore.LentValue(name: name, value: bytes, mark: value.mark, attributes: attributes))
            ? .more : .enough
    }
}

private func takeLentValue(context: UnsafeMutableRawPointer?, value: UnsafePointer<ld_bulk_value>?) -> Int32 {
    guard let slot = CallSlot.running(context, .values), let taker = slot.pointee.receiver, !slot.pointee.wasStopped
    else { return 1 }
    var known = ld_bulk_value()
    let isCopied = withUnsafeMutableBytes(of: &known) {
        BoundaryStruct.copy(value, to: $0, least: ld_bulk_value_least_size)
    }
    guard isCopied else {
        slot.pointee.reportViolation(
            "it passed a value whose struct has \(BoundaryStruct.size(value)) bytes; "
                + "expected \(BoundaryStruct.sizes(least: ld_bulk_value_least_size))")
        return 1
    }
    do throws(StorageError) {
        switch try taker.assumingMemoryBound(to: ValueTaker.self).pointee.take(known) {
        case .more: return 0
        case .enough: slot.pointee.wasStopped = true
        case .broken(let what): slot.pointee.reportViolation(what)
        }
    } catch {
        slot.pointee.reportViolation(error.message)
    }
    return 1
}

/// The changes whose expectation failed, each once.
private struct ReceivedConflicts {
    let limit: Int
    var indices: [Int] = []
}

private func takeConflict(context: UnsafeMutableRawPointer?, index: Int) {
    guard let slot = CallSlot.running(context, .conflicts), let receiver = slot.pointee.receiver else { return }
    let conflicts = receiver.assumingMemoryBound(to: ReceivedConflicts.self)
    let limit = conflicts.pointee.limit
    guard (0..<limit).contains(index), conflicts.pointee.indices.count < limit else {
        return slot.pointee.reportViolation(
            "it reported a failed expectation for change \(UInt(bitPattern: index)) of \(limit)")
    }
    conflicts.pointee.indices.append(index)
}
