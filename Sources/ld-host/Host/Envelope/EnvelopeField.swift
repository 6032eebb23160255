internal import ByteCoding
internal import LocalDataAPI

/// The types of a header's fields.
enum EnvelopeField: UInt8 {
    case contentType = 1
    case serializer = 2
    case versionTag = 3
    case appVersion = 4
    case owner = 5
    case derivationSalt = 16
    case derivationInfo = 17
    case derivationMemory = 18
    case ring = 32
}

extension ByteWriter {
    /// Adds a field, if it has content.
    ///
    /// - Throws: `valueTooLarge` if its size does not fit.
    mutating func add(_ field: EnvelopeField, _ content: (some Collection<UInt8>)?) throws(StorageError) {
        guard let content else { return }
        guard let count = UInt16(exactly: content.count) else {
            throw StorageError(
                .valueTooLarge, "\(field) of a sealed value has \(content.count) bytes; at most \(UInt16.max)")
        }
        add(field.rawValue)
        add(count)
        add(content)
    }
}
