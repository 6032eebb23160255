internal import ByteCoding
public import FoundationEssentials
internal import HostGround
internal import HostSync
public import LocalDataAPI

/// A value of a snapshot, with all that another device needs to know of it: see `StorageRouter.syncSnapshot()`.
public struct SnapshotValue: Hashable, Sendable {
    /// The address of its key.
    public let address: String
    /// Its bytes, as the key's serializer has written them.
    public let data: Data
    /// What is recorded with it, above all the version of its type; without size and time.
    public let attributes: ValueAttributes
    /// When it was written, in nanoseconds since 1970 UTC.
    package let time: Int64

    /// When it was written.
    public var written: Date { Date(nanoseconds: time) }

    package init(address: String, data: Data, attributes: ValueAttributes, time: Int64) {
        (self.address, self.data, self.attributes, self.time) = (address, data, attributes.kept, time)
    }

    private static let mark = Array("LDsv".utf8)
    private static let form: UInt8 = 1

    /// Reads a value of a snapshot.
    ///
    /// - Throws: `deserializationFailed` for other bytes; `unsupported` for those of a later version of LocalData.
    public init(_ bytes: Data) throws(StorageError) {
        guard bytes.starts(with: Self.mark), var reader = ByteReader(hashed: .bigEndian, bytes),
            reader.bytes(Self.mark.count) != nil, let form = reader.number(UInt8.self)
        else {
            throw StorageError(
                .deserializationFailed, "\(bytes.count) bytes are no value of a snapshot, or are damaged")
        }
        guard form == Self.form else {
            throw StorageError(
                .unsupported, "the value of the snapshot has form \(form), expected \(Self.form)",
                hint: "update this app")
        }
        guard let time = reader.number(UInt64.self), case .some(.some(let address)) = reader.optionalText(),
            let attributes = reader.attributes()
        else { throw StorageError(.deserializationFailed, "the value of the snapshot is malformed") }
        self.init(
            address: address, data: Data(reader.remainder()), attributes: attributes, time: Int64(bitPattern: time))
    }

    /// The value as it is in a snapshot.
    public var encoded: Data {
        var writer = ByteWriter(.bigEndian, Self.mark + [Self.form])
        writer.add(UInt64(bitPattern: time))
        writer.add(address)
        writer.add(attributes)
        writer.add(data)
        writer.addHash()
        return Data(writer.bytes)
    }
}

extension [SnapshotValue] {
    /// The values by the names of their keys. Where several keys have one name, each has its address instead.
    package var byName: [String: Data] {
        var counts: [String: Int] = [:]
        for value in self { counts[value.name, default: 0] += 1 }
        let addresses = Set(map(\.address))
        return reduce(into: [:]) { values, value in
            let isAlone = counts[value.name] == 1 && !addresses.contains(value.name)
            var name = isAlone ? value.name : value.address
            // Of two names, a dictionary does not tell apart how they encode a character. Each value has its address.
            while values[name] != nil { name += "'" }
            values[name] = value.encoded
        }
    }
}

extension SnapshotValue {
    fileprivate var name: String { (try? StorageAddress.parts(of: address))?.name ?? address }
}
