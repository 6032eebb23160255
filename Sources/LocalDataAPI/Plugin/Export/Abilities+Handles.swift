internal import CLocalData

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// What a store of any type is asked by the functions of the ability tables: keys, tokens and transactions are behind
// handles, as in the extension of `StorageBackend`.

extension AttributedBackend {
    func attributes(behind handle: UnsafeMutableRawPointer?) throws -> ValueAttributes? {
        try attributes(of: key(handle))
    }
}

extension StreamingBackend {
    func read(behind handle: UnsafeMutableRawPointer?, _ body: (RawSpan) -> Bool) throws -> Bool {
        try read(key(handle), body)
    }

    func write(
        behind handle: UnsafeMutableRawPointer?, _ attributes: ValueAttributes?,
        from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws { try write(key(handle), attributes: attributes, from: source) }
}

extension BatchBackend {
    func apply(_ operations: UnsafeBufferPointer<UnsafePointer<ld_operation>?>) throws {
        // Mostly the same for all values; copying the texts each time would double the work.
        var last: (table: UnsafePointer<ld_attributes>, attributes: ValueAttributes)?
        func attributes(_ table: UnsafePointer<ld_attributes>?) throws -> ValueAttributes? {
            guard let table else { return nil }
            if let last, last.table == table { return last.attributes }
            let attributes = try ValueAttributes(table)
            last = (table, attributes)
            return attributes
        }
        // Not with map: its closure would look up its types at run time once per change, which costs more than the
        // change.
        let changes = try [StorageChange<Key>](unsafeUninitializedCapacity: operations.count) { changes, count in
            while count < operations.count {
                guard let operation = operations[count]?.pointee else { throw StorageError(.unsupported) }
                changes.initializeElement(
                    at: count,
                    to: StorageChange(
                        key: try key(operation.handle),
                        value: operation.remove == 0 ? try Data(operation.value.bytes()) : nil,
                        attributes: try attributes(operation.attributes)))
                count += 1
            }
        }
        try apply(changes)
    }
}

extension WatchableBackend {
    func watched(
        _ place: StorageNamespace, _ prefix: String, _ changed: @escaping @Sendable (String?) -> Void
    ) throws -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(KeyBox(try watch(place, prefix: prefix, changed: changed))).toOpaque()
    }

    func unwatch(behind token: UnsafeMutableRawPointer) {
        unwatch(KeyBox<Watch>.key(token))
        Unmanaged<KeyBox<Watch>>.fromOpaque(token).release()
    }
}

extension TransactionalBackend {
    private typealias Box = KeyBox<Transaction>

    func begun() throws -> UnsafeMutableRawPointer { Unmanaged.passRetained(Box(try begin())).toOpaque() }

    func get(
        behind handle: UnsafeMutableRawPointer?, in transaction: UnsafeMutableRawPointer?,
        _ sink: UnsafePointer<ld_sink>
    ) throws -> Int32 {
        var stopped = false
        let found = try get(key(handle), in: Box.key(checked(transaction))) { stopped = !sink.send($0) }
        return stopped ? LD_STOPPED : found ? LD_OK : LD_ABSENT
    }

    func set(
        behind handle: UnsafeMutableRawPointer?, in transaction: UnsafeMutableRawPointer?, _ value: ld_bytes,
        _ attributes: ValueAttributes?
    ) throws {
        try set(
            key(handle), to: value.bytes().bytes, attributes: attributes, in: Box.key(checked(transaction)))
    }

    func remove(behind handle: UnsafeMutableRawPointer?, in transaction: UnsafeMutableRawPointer?) throws -> Int32 {
        try remove(key(handle), in: Box.key(checked(transaction))) ? LD_OK : LD_ABSENT
    }

    func commit(behind transaction: UnsafeMutableRawPointer) throws {
        defer { Unmanaged<Box>.fromOpaque(transaction).release() }
        try commit(Box.key(transaction))
    }

    func rollback(behind transaction: UnsafeMutableRawPointer) {
        rollback(Box.key(transaction))
        Unmanaged<Box>.fromOpaque(transaction).release()
    }
}

extension VerifiableBackend {
    func verify(behind handle: UnsafeMutableRawPointer?) throws -> ValueState? { try verify(key(handle)) }
}

extension BulkBackend {
    func lend(
        _ place: StorageNamespace, _ prefix: String, _ after: String?, _ largest: Int,
        _ take: (UnsafePointer<ld_bulk_value>) -> Bool
    ) throws {
        // Most values of a namespace have the same attributes as the previous one.
        var lent = BoundaryAttributes(ValueAttributes())
        try forEachValue(in: place, prefix: prefix, after: after, largest: largest) {
            name, value, attributes, mark in
            var item = ld_bulk_value()
            item.size = UInt32(MemoryLayout<ld_bulk_value>.size)
            item.mark = mark
            if let attributes {
                if !lent.follow(attributes) {
                    lent = BoundaryAttributes(attributes)
                    _ = lent.follow(attributes)
                }
                item.attributes = lent.pointer
            }
            return name.withUnsafeBytes { name in
                item.name = ld_bytes(data: name.baseAddress, count: name.count)
                guard let value else {
                    item.omitted = 1
                    return take(&item)
                }
                return value.withUnsafeBytes { value in
                    item.value = ld_bytes(data: value.baseAddress, count: value.count)
                    return take(&item)
                }
            }
        }
    }
}

extension ConditionalBackend {
    func get(
        behind handle: UnsafeMutableRawPointer?, _ deliver: (UInt64, ValueAttributes, RawSpan) -> Void
    ) throws -> Bool { try get(key(handle), deliver) }

    func set(
        behind handle: UnsafeMutableRawPointer?, _ value: ld_bytes, _ attributes: ValueAttributes?,
        _ condition: WriteCondition
    ) throws -> UInt64? {
        try set(key(handle), to: value.bytes().bytes, attributes: attributes, if: condition)
    }

    func remove(behind handle: UnsafeMutableRawPointer?, _ revision: UInt64) throws -> Bool {
        try remove(key(handle), ifRevision: revision)
    }
}

extension ExpiringBackend {
    func discard(behind handle: UnsafeMutableRawPointer?) throws { try discard(key(handle)) }
}

extension LockingBackend {
    private typealias Box = KeyBox<Lock>

    func taken(_ name: String, _ place: StorageNamespace, _ wait: Duration) throws -> UnsafeMutableRawPointer? {
        try lock(name, in: place, waiting: wait).map { Unmanaged.passRetained(Box($0)).toOpaque() }
    }

    func isHeld(behind lock: UnsafeMutableRawPointer) throws -> Bool { try isHeld(Box.key(lock)) }

    func unlock(behind lock: UnsafeMutableRawPointer) {
        unlock(Box.key(lock))
        Unmanaged<Box>.fromOpaque(lock).release()
    }
}
