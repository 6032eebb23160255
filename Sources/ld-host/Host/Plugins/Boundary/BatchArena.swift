internal import CLocalData
internal import HostGround
internal import LocalDataAPI

/// The operations of a batch in memory that does not move during the call; every value is copied once.
struct BatchArena {
    let operations: UnsafeMutableBufferPointer<UnsafePointer<ld_operation>?>
    private let structs: UnsafeMutableBufferPointer<ld_operation>
    private let attributes: UnsafeMutableBufferPointer<ld_attributes>
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ changes: [StorageChange<StoreHandle>]) {
        structs = .allocate(capacity: changes.count)
        attributes = .allocate(capacity: changes.count)
        operations = .allocate(capacity: changes.count)
        bytes = .allocate(
            byteCount: changes.reduce(0) { $0 + ($1.value?.count ?? 0) + ($1.attributes?.textCount ?? 0) },
            alignment: 16)
        var end = 0
        for (index, change) in changes.enumerated() {
            let kept = attributes.baseAddress.map { $0 + index }
            kept?.initialize(to: ld_attributes())
            if let given = change.attributes { kept?.pointee = place(given, at: &end) }
            structs.initializeElement(
                at: index,
                to: ld_operation(
                    size: UInt32(MemoryLayout<ld_operation>.size), remove: change.value == nil ? 1 : 0,
                    handle: change.key.pointer, value: change.value.map { place($0, at: &end) } ?? ld_bytes(),
                    attributes: change.attributes == nil ? nil : kept.map { UnsafePointer($0) }))
            operations.initializeElement(at: index, to: structs.baseAddress.map { UnsafePointer($0 + index) })
        }
    }

    private func place(_ data: some Collection<UInt8>, at end: inout Int) -> ld_bytes {
        let part = UnsafeMutableRawBufferPointer(rebasing: bytes[end..<(end + data.count)])
        part.copyBytes(from: data)
        end += data.count
        return ld_bytes(data: part.baseAddress, count: part.count)
    }

    private func place(_ given: ValueAttributes, at end: inout Int) -> ld_attributes {
        ld_attributes(
            size: UInt32(MemoryLayout<ld_attributes>.size),
            content_type: place((given.contentType ?? "").utf8, at: &end),
            serializer: place((given.serializer ?? "").utf8, at: &end),
            version_tag: place((given.versionTag ?? "").utf8, at: &end),
            app_version: place((given.appVersion ?? "").utf8, at: &end),
            owner: place((given.owner ?? "").utf8, at: &end),
            value_size: given.size ?? 0, modified: given.modified ?? 0, expires: given.expires ?? 0)
    }

    func free() {
        // The values may be secrets.
        clear(bytes)
        bytes.deallocate()
        structs.deallocate()
        attributes.deallocate()
        operations.deallocate()
    }
}
