internal import CLocalData
internal import Glibc
package import LocalDataAPI

extension LoadedStore {
    /// A value as a store hands it out with many others; its bytes are lent for the call.
    package struct LentValue {
        /// The name in UTF-8.
        package let name: UnsafeRawBufferPointer
        /// `nil` for a value that is larger than what was asked for.
        package let value: UnsafeRawBufferPointer?
        /// Another one after each write of the value.
        package let mark: UInt64
        /// Checked when they came.
        let attributes: ld_attributes?

        /// What is kept beside the value.
        package func makeAttributes() -> ValueAttributes? { attributes.map { ValueAttributes(checked: $0) } }
    }

    /// What is kept beside values, size and time aside, one after the other: mostly it is the same.
    package struct RepeatedAttributes {
        private var texts = [RepeatedText](repeating: RepeatedText(), count: 5)
        private var isThere: Bool?

        package init() {}

        /// Takes what is kept beside the next value.
        ///
        /// - Returns: Whether it is other than what came last.
        package mutating func take(_ value: LentValue) -> Bool {
            var isNew = isThere != (value.attributes != nil)
            isThere = value.attributes != nil
            guard let given = value.attributes else { return isNew }
            func take(_ text: ld_bytes, at index: Int) {
                // What came is checked already.
                if let bytes = text.checked, texts[index].take(bytes) { isNew = true }
            }
            take(given.content_type, at: 0)
            take(given.serializer, at: 1)
            take(given.version_tag, at: 2)
            take(given.app_version, at: 3)
            take(given.owner, at: 4)
            return isNew
        }
    }

    /// Hands out values as ``BulkBackend`` promises, and stops at what no store may hand out.
    ///
    /// - Throws: `unsupported` if the store does not read many at once; `corrupt` for what no store may hand out, as
    ///   with ``forEachName(in:prefix:after:limit:_:)``.
    package func forEachValue(
        in place: StorageNamespace, prefix: String = "", after: String? = nil, largest: Int = .max,
        _ body: (LentValue) -> Bool
    ) throws(StorageError) {
        guard let bulk = abilities.bulk else { throw lacks("reading many values at once") }
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

    /// Applies changes in order, all of them or none; a later one of a name wins.
    ///
    /// - Returns: The indices of changes that expect what is not so; if there are any, nothing has changed.
    /// - Throws: As ``apply(_:)``; `corrupt` for the index of no change.
    package func apply(_ changes: BulkChangeList) throws(StorageError) -> [Int] {
        guard let bulk = abilities.bulk else { throw lacks("changing many values at once") }
        try checkSize(changes.largestValue)
        var conflicts = ReceivedConflicts(limit: changes.count)
        do throws(StorageError) {
            _ = try passing { () throws(StorageError) in
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
                    "it says that \(conflicts.indices.count) changes expect what is not so, and that all were made",
                    code: .unknown)
            }
            return []
        } catch {
            guard error.code == .busy, !conflicts.indices.isEmpty else { throw error }
            return conflicts.indices
        }
    }
}

/// Hands on what a store hands out.
private struct ValueTaker {
    var order: NameOrder
    let largest: Int
    let body: (LoadedStore.LentValue) -> Bool

    mutating func take(_ value: ld_bulk_value) throws(StorageError) -> PieceVerdict {
        guard let name = value.name.checked else { return .broken("it gave a name of \(value.name.flaw())") }
        if let flaw = order.take(name) { return .broken(flaw) }
        guard value.mark != 0 else { return .broken("it gave a value with the mark 0") }
        var bytes: UnsafeRawBufferPointer?
        if value.omitted == 0 {
            guard let given = value.value.checked else { return .broken("it gave a value of \(value.value.flaw())") }
            guard given.count <= largest else {
                return .broken("it gave a value of \(given.count) bytes; it was asked for those of at most \(largest)")
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
    guard let value, value.pointee.size >= MemoryLayout<ld_bulk_value>.size else {
        slot.pointee.break_("it gave a value whose struct is missing or too small")
        return 1
    }
    do throws(StorageError) {
        switch try taker.assumingMemoryBound(to: ValueTaker.self).pointee.take(value.pointee) {
        case .more: return 0
        case .enough: slot.pointee.wasStopped = true
        case .broken(let what): slot.pointee.break_(what)
        }
    } catch {
        slot.pointee.break_(error.message)
    }
    return 1
}

/// The changes that expect what is not so, each once.
private struct ReceivedConflicts {
    let limit: Int
    var indices: [Int] = []
}

private func takeConflict(context: UnsafeMutableRawPointer?, index: Int) {
    guard let slot = CallSlot.running(context, .conflicts), let receiver = slot.pointee.receiver else { return }
    let conflicts = receiver.assumingMemoryBound(to: ReceivedConflicts.self)
    let limit = conflicts.pointee.limit
    guard (0..<limit).contains(index), conflicts.pointee.indices.count < limit else {
        return slot.pointee.break_("it says that change \(UInt(bitPattern: index)) of \(limit) expects what is not so")
    }
    conflicts.pointee.indices.append(index)
}
