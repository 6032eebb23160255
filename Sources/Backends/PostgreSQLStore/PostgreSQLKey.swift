internal import Glibc
internal import LocalDataPluginAPI

/// A resolved address, with the name's bytes ready to be sent.
final class PostgreSQLKey: Sendable {
    let place: StorageNamespace
    nonisolated(unsafe) let name: UnsafeRawBufferPointer

    init(_ address: StorageAddress) {
        place = address.place
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, address.name.utf8.count), alignment: 1)
        bytes.copyBytes(from: address.name.utf8)
        name = UnsafeRawBufferPointer(rebasing: bytes[..<address.name.utf8.count])
    }

    deinit { name.deallocate() }

    /// The address, for messages.
    var address: StorageAddress { StorageAddress(place, name: String(decoding: name, as: UTF8.self)) }
}

extension PostgreSQLKey {
    /// Compares the name's bytes with another's: 0 if they are equal, negative if they sort before it.
    func order(_ other: UnsafeRawBufferPointer) -> Int {
        let count = min(name.count, other.count)
        if count > 0, let start = name.baseAddress, let second = other.baseAddress {
            let order = memcmp(start, second, count)
            if order != 0 { return Int(order) }
        }
        return name.count - other.count
    }
}

extension PostgreSQLKey: Hashable {
    static func == (left: PostgreSQLKey, right: PostgreSQLKey) -> Bool {
        left === right || left.order(right.name) == 0 && left.place == right.place
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(place)
        hasher.combine(bytes: name)
    }
}

/// Names that start with a prefix and sort after a name, by their bytes.
struct NameRange {
    /// The first possible name.
    private(set) var start: [UInt8]
    /// The first bytes after all names of the range. No name contains the byte 0xff.
    let end: [UInt8]

    init(prefix: String, after: String?) {
        let prefix = Array(prefix.utf8)
        start = prefix
        end = prefix.last.map { prefix.dropLast() + [$0 + 1] } ?? [0xff]
        if let after { move(after: Array(after.utf8)) }
    }

    /// Leaves out a name and those before it.
    mutating func move(after name: some Sequence<UInt8>) {
        // Nothing sorts between a name and the same with a zero byte, which no name contains.
        let next = Array(name) + [0]
        if start.lexicographicallyPrecedes(next) { start = next }
    }

    /// The range as parameters.
    var parameters: [Parameter] { [.bytes(start), .bytes(end)] }
}
