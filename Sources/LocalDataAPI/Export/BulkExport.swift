internal import CLocalData

/// The calls for many values of a store of some Swift type.
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
        let lent = LentAttributes()
        try backend.forEachValue(in: place, prefix: prefix, after: after, largest: largest) {
            name, value, attributes, mark in
            var item = ld_bulk_value()
            item.size = UInt32(MemoryLayout<ld_bulk_value>.size)
            item.mark = mark
            if let attributes { item.attributes = lent.pointer(to: attributes) }
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

/// Attributes in the form of the boundary. Most values of a place have the same as the one before, and then their texts are
/// not copied anew.
private final class LentAttributes {
    private let table = UnsafeMutablePointer<ld_attributes>.allocate(capacity: 1)
    private var last = ValueAttributes()
    private var texts: [UnsafeMutableRawBufferPointer] = []

    init() { table.initialize(to: ld_attributes()) }

    deinit {
        forget()
        table.deallocate()
    }

    /// Lends attributes until the next call.
    func pointer(to attributes: ValueAttributes) -> UnsafePointer<ld_attributes> {
        if table.pointee.size == 0 || attributes.contentType != last.contentType
            || attributes.serializer != last.serializer || attributes.versionTag != last.versionTag
            || attributes.appVersion != last.appVersion || attributes.owner != last.owner
        {
            forget()
            last = attributes
            table.pointee = ld_attributes(
                size: UInt32(MemoryLayout<ld_attributes>.size), content_type: keep(attributes.contentType),
                serializer: keep(attributes.serializer), version_tag: keep(attributes.versionTag),
                app_version: keep(attributes.appVersion), owner: keep(attributes.owner), value_size: 0, modified: 0)
        }
        table.pointee.value_size = attributes.size ?? 0
        table.pointee.modified = attributes.modified ?? 0
        return UnsafePointer(table)
    }

    private func keep(_ text: String?) -> ld_bytes {
        guard let text, !text.isEmpty else { return ld_bytes() }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        copy.copyBytes(from: text.utf8)
        texts.append(copy)
        return ld_bytes(data: copy.baseAddress, count: copy.count)
    }

    private func forget() {
        for text in texts { text.deallocate() }
        texts = []
    }
}
