package import CLocalData

/// Attributes in the boundary's format, valid while this object lives.
package final class BoundaryAttributes {
    private let table = UnsafeMutablePointer<ld_attributes>.allocate(capacity: 1)
    private var texts: [UnsafeMutableRawBufferPointer] = []
    private let attributes: ValueAttributes

    package init(_ attributes: ValueAttributes) {
        self.attributes = attributes
        table.initialize(
            to: ld_attributes(
                size: UInt32(MemoryLayout<ld_attributes>.size), content_type: ld_bytes(), serializer: ld_bytes(),
                version_tag: ld_bytes(), app_version: ld_bytes(), owner: ld_bytes(), value_size: 0, modified: 0,
                expires: 0))
        table.pointee.content_type = keep(attributes.contentType)
        table.pointee.serializer = keep(attributes.serializer)
        table.pointee.version_tag = keep(attributes.versionTag)
        table.pointee.app_version = keep(attributes.appVersion)
        table.pointee.owner = keep(attributes.owner)
        table.pointee.expires = attributes.expires ?? 0
    }

    deinit {
        for text in texts { text.deallocate() }
        table.deallocate()
    }

    package var pointer: UnsafePointer<ld_attributes> { UnsafePointer(table) }

    /// Takes the size and times of other attributes if their texts are the same; otherwise returns `false`.
    func follow(_ other: ValueAttributes) -> Bool {
        guard other.contentType == attributes.contentType, other.serializer == attributes.serializer,
            other.owner == attributes.owner, other.versionTag == attributes.versionTag,
            other.appVersion == attributes.appVersion
        else { return false }
        table.pointee.value_size = other.size ?? 0
        table.pointee.modified = other.modified ?? 0
        table.pointee.expires = other.expires ?? 0
        return true
    }

    private func keep(_ text: String?) -> ld_bytes {
        guard let text, !text.isEmpty else { return ld_bytes() }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        copy.copyBytes(from: text.utf8)
        texts.append(copy)
        return ld_bytes(data: copy.baseAddress, count: copy.count)
    }
}
