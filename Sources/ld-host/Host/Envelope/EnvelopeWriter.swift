internal import FoundationEssentials
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

/// Assembles bytes; numbers are big-endian.
struct EnvelopeWriter {
    private(set) var bytes: [UInt8] = []

    /// Reserves room for most headers.
    init() { bytes.reserveCapacity(256) }

    /// Appends to bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func add(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

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

    mutating func set(_ number: UInt32, at offset: Int) {
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
    }
}
