internal import ByteCoding
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// What a record says, as it is before it is sealed.
///
/// All numbers are big-endian. A content begins with the format's version (1 byte, 1), its kind (1 byte) and the
/// writer's counter (8 bytes), which is another one for each record of a writer. Then follow:
///
/// - **1, value:** version (time 8, author 16), history (count 2, then versions), address, attributes
///   (content type, serializer, version tag, expiry in nanoseconds 8 or 0, app version, owner) and the value, to the
///   end. Texts have their length (2 bytes, 65535 for none) before them.
/// - **2, removal:** version, history and address.
/// - **3, release:** nothing. The writer's record of this name has a greater one of another writer.
/// - **4, status:** the highest counter of the writer's records (8), the highest ended counter (8), the highest
///   counter that waits for acknowledgement (8), whether the device is joining (1), the number (8) and the digest (16)
///   of the live records, and the acknowledgements (count 2, then device 16, counter 8, and what is known of it: the
///   counter of its latest status 8 and the highest counter up to which all records were here 8).
package struct SyncContent: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        case value(SyncVersion, SyncHistory, address: String, ValueAttributes, Data)
        case removal(SyncVersion, SyncHistory, address: String)
        case release
        case status(SyncStatus)
    }

    package var counter: UInt64
    package var body: Body

    /// The longest text in bytes that a record can have.
    static let longestText = Int(UInt16.max) - 1

    package init(counter: UInt64, _ body: Body) { (self.counter, self.body) = (counter, body) }

    package func encoded() -> Data {
        var writer = ByteWriter(.bigEndian)
        writer.add(UInt8(1))
        switch body {
        case .value(let version, let history, let address, let attributes, let data):
            begin(&writer, 1)
            writer.add(version)
            writer.add(history)
            writer.add(address)
            writer.add(attributes)
            return joined(Data(writer.bytes), data)
        case .removal(let version, let history, let address):
            begin(&writer, 2)
            writer.add(version)
            writer.add(history)
            writer.add(address)
        case .release: begin(&writer, 3)
        case .status(let status):
            begin(&writer, 4)
            status.write(to: &writer)
        }
        return Data(writer.bytes)
    }

    private func begin(_ writer: inout ByteWriter, _ kind: UInt8) {
        writer.add(kind)
        writer.add(counter)
    }

    /// Decodes a content; `nil` if it is not well formed.
    package init?(_ data: Data) {
        var reader = ByteReader(.bigEndian, data)
        defer { reader.clear() }
        guard reader.number(UInt8.self) == 1, let kind = reader.number(UInt8.self),
            let counter = reader.number(UInt64.self), let body = Self.body(kind, &reader, of: data)
        else { return nil }
        self.init(counter: counter, body)
    }

    private static func body(_ kind: UInt8, _ reader: inout ByteReader, of content: Data) -> Body? {
        switch kind {
        case 1:
            guard let (version, history, address) = head(&reader), let attributes = reader.attributes() else {
                return nil
            }
            let value = joined(content.suffix(reader.remainder().count))
            return .value(version, history, address: address, attributes, value)
        case 2:
            guard let (version, history, address) = head(&reader), reader.isAtEnd else { return nil }
            return .removal(version, history, address: address)
        case 3: return reader.isAtEnd ? .release : nil
        case 4: return SyncStatus(&reader).map { .status($0) }
        default: return nil
        }
    }

    private static func head(_ reader: inout ByteReader) -> (SyncVersion, SyncHistory, String)? {
        guard let version = reader.syncVersion(), let history = reader.history(), history.includes(version),
            case .some(.some(let address)) = reader.optionalText()
        else { return nil }
        return (version, history, address)
    }
}

/// The number of some records and the sum of their hashes, by which two devices compare sets without listing them. The
/// hashes have a key, so that nobody outside of the group can make two sets agree.
package struct SyncDigest: Hashable, Sendable {
    package private(set) var count: UInt64 = 0
    private var first: UInt64 = 0
    private var second: UInt64 = 0

    package init() {}

    package mutating func add(_ hash: SyncHash) { change(hash, 1) }
    package mutating func subtract(_ hash: SyncHash) { change(hash, UInt64.max) }

    private mutating func change(_ hash: SyncHash, _ factor: UInt64) {
        count &+= factor
        first &+= factor &* hash.high
        second &+= factor &* hash.low
    }

    func write(to writer: inout ByteWriter) {
        writer.add(count)
        writer.add(first)
        writer.add(second)
    }

    init?(_ reader: inout ByteReader) {
        guard let count = reader.number(UInt64.self), let first = reader.number(UInt64.self),
            let second = reader.number(UInt64.self)
        else { return nil }
        (self.count, self.first, self.second) = (count, first, second)
    }
}
