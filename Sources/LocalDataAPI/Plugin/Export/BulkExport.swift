internal import CLocalData

/// The bulk calls of a store of some Swift type.
class AnyBulkExport {
    func read(
        _ place: StorageNamespace, _ prefix: String, _ after: String?, _ largest: Int,
        _ take: (UnsafePointer<ld_bulk_value>) -> Bool
    ) throws { throw StorageError(.unsupported) }

    func apply(_ changes: BulkChanges) throws -> [Int] { throw StorageError(.unsupported) }
}

final class BulkExport<Backend: BulkBackend>: AnyBulkExport {
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    override func read(
        _ place: StorageNamespace, _ prefix: String, _ after: String?, _ largest: Int,
        _ take: (UnsafePointer<ld_bulk_value>) -> Bool
    ) throws {
        // Most values of a namespace have the same attributes as the previous one.
        var lent = BoundaryAttributes(ValueAttributes())
        try backend.forEachValue(in: place, prefix: prefix, after: after, largest: largest) {
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

    override func apply(_ changes: BulkChanges) throws -> [Int] { try backend.apply(changes) }
}
