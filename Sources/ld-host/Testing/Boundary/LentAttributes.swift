internal import CLocalData
internal import LocalDataAPI

/// Attributes in memory that is lent to a component until `free`.
struct LentAttributes {
    let pointer: UnsafePointer<ld_attributes>?
    private let texts: [UnsafeMutableRawBufferPointer]

    init(_ attributes: ValueAttributes?) {
        guard let attributes else {
            pointer = nil
            texts = []
            return
        }
        let fields = [
            attributes.contentType, attributes.serializer, attributes.versionTag, attributes.appVersion,
            attributes.owner,
        ]
        texts = fields.map { field in
            let bytes = Array((field ?? "").utf8)
            let text = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            text.copyBytes(from: bytes)
            return text
        }
        let bytes = texts.map { ld_bytes(data: $0.baseAddress, count: $0.count) }
        let lent = UnsafeMutablePointer<ld_attributes>.allocate(capacity: 1)
        lent.initialize(
            to: ld_attributes(
                size: UInt32(MemoryLayout<ld_attributes>.size), content_type: bytes[0], serializer: bytes[1],
                version_tag: bytes[2], app_version: bytes[3], owner: bytes[4], value_size: 0, modified: 0))
        pointer = UnsafePointer(lent)
    }

    func free() {
        for text in texts { text.deallocate() }
        pointer?.deallocate()
    }
}
