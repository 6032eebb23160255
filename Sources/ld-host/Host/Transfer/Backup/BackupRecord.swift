internal import ByteCoding
internal import HostStores
internal import LocalDataAPI

/// The first record of a backup, before its values.
struct BackupManifest: Equatable {
    struct Domain: Equatable {
        let name: String
        /// Whether the store that had its values protects them.
        let isProtected: Bool
    }

    /// The version of the program that made it.
    let version: String
    /// When it was made, in seconds since 1970 UTC.
    let created: UInt64
    /// How many values were to be written, for showing progress: apps may have removed some meanwhile.
    let expected: UInt64
    let domains: [Domain]
}

/// A value in a backup. Its bytes follow it in pieces.
struct BackupItem: Equatable {
    enum Kind: UInt8 {
        /// A key ring of the host: a value of the keychain domain.
        case ring = 2
        /// A value of an app.
        case value = 3
        /// A page or image of the ledger of migrations of a domain.
        case ledger = 4
    }

    let kind: Kind
    let domain: String
    let scope: String
    let name: String
    var attributes = ValueAttributes()
    /// The apps whose key it is, as far as the machine of the backup knew: several may share a suite or a service.
    var holders: [PlaceHolder] = []

    /// Orders the values of a backup, each of which is greater than the one before.
    var order: [UInt8] {
        [kind.rawValue] + Array(domain.utf8) + [0] + Array(scope.utf8) + [0] + Array(name.utf8)
    }

    var description: String {
        kind == .ledger
            ? "the ledger's '\(name)' of '\(domain)'"
            : "'\(StorageAddress(StorageNamespace(domain: domain, scope: scope), name: name))'"
    }
}

/// One record of a backup: its type, the size of its fields in four bytes, and the fields. Numbers are big-endian; a
/// text is its size in four bytes and UTF-8.
enum BackupRecord: Equatable {
    case manifest(BackupManifest)
    case item(BackupItem)
    /// The last record: how many values there are, and how many bytes all of them have.
    case end(count: UInt64, bytes: UInt64)

    /// The size of type and size.
    static let headSize = 5
    /// The most bytes of the fields of a record.
    static let largest = 1 << 20
    private static let manifestType: UInt8 = 1
    private static let endType: UInt8 = 5

    var encoded: [UInt8] {
        var writer = ByteWriter(.bigEndian, capacity: 128)
        let type: UInt8
        switch self {
        case .manifest(let manifest):
            type = Self.manifestType
            writer.addText(manifest.version)
            writer.add(manifest.created)
            writer.add(manifest.expected)
            writer.add(UInt32(manifest.domains.count))
            for domain in manifest.domains {
                writer.addText(domain.name)
                writer.add(UInt8(domain.isProtected ? 1 : 0))
            }
        case .item(let item):
            type = item.kind.rawValue
            let attributes = item.attributes
            for text in [
                item.domain, item.scope, item.name, attributes.contentType, attributes.serializer,
                attributes.versionTag, attributes.appVersion, attributes.owner,
            ] { writer.addText(text ?? "") }
            writer.add(UInt32(item.holders.count))
            for holder in item.holders {
                writer.addText(holder.app)
                for number in [holder.found, holder.set, holder.left, holder.removed] { writer.add(number) }
                writer.add(UInt8(holder.isApart ? 1 : 0))
            }
            if let expires = attributes.expires { writer.add(UInt64(bitPattern: expires)) }
        case .end(let count, let bytes):
            type = Self.endType
            writer.add(count)
            writer.add(bytes)
        }
        var head = ByteWriter(.bigEndian, [type], capacity: writer.bytes.count + Self.headSize)
        head.add(UInt32(writer.bytes.count))
        head.add(writer.bytes)
        return head.bytes
    }

    /// The record of a type with some fields; `nil` if there is no such record.
    init?(type: UInt8, fields: [UInt8]) {
        var reader = ByteReader(.bigEndian, fields)
        switch type {
        case Self.manifestType:
            guard let version = reader.text(), let created = reader.number(UInt64.self),
                let expected = reader.number(UInt64.self), let count = reader.number(UInt32.self)
            else { return nil }
            var domains: [BackupManifest.Domain] = []
            for _ in 0..<count {
                guard let name = reader.text(), let flag = reader.number(UInt8.self), flag <= 1 else { return nil }
                domains.append(BackupManifest.Domain(name: name, isProtected: flag == 1))
            }
            self = .manifest(
                BackupManifest(version: version, created: created, expected: expected, domains: domains))
        case Self.endType:
            guard let count = reader.number(UInt64.self), let bytes = reader.number(UInt64.self) else { return nil }
            self = .end(count: count, bytes: bytes)
        default:
            guard let kind = BackupItem.Kind(rawValue: type) else { return nil }
            var texts: [String] = []
            for _ in 0..<8 {
                guard let text = reader.text() else { return nil }
                texts.append(text)
            }
            guard let count = reader.number(UInt32.self) else { return nil }
            var holders: [PlaceHolder] = []
            for _ in 0..<count {
                guard let app = reader.text(), let found = reader.number(UInt64.self),
                    let set = reader.number(UInt64.self), let left = reader.number(UInt64.self),
                    let removed = reader.number(UInt64.self), let flag = reader.number(UInt8.self), flag <= 1
                else { return nil }
                holders.append(
                    PlaceHolder(
                        app: app, found: found, set: set, left: left, removed: removed, isApart: flag == 1))
            }
            var expires: Int64?
            if !reader.isAtEnd {
                guard let number = reader.number(UInt64.self) else { return nil }
                expires = Int64(bitPattern: number)
            }
            func attribute(_ index: Int) -> String? { texts[index].isEmpty ? nil : texts[index] }
            self = .item(
                BackupItem(
                    kind: kind, domain: texts[0], scope: texts[1], name: texts[2],
                    attributes: ValueAttributes(
                        contentType: attribute(3), serializer: attribute(4), versionTag: attribute(5),
                        appVersion: attribute(6), owner: attribute(7), expires: expires),
                    holders: holders))
        }
        guard reader.isAtEnd else { return nil }
    }
}

extension ByteWriter {
    fileprivate mutating func addText(_ text: String) {
        add(UInt32(text.utf8.count))
        add(text.utf8)
    }
}

extension ByteReader {
    fileprivate mutating func text() -> String? {
        guard let count = number(UInt32.self), let bytes = bytes(Int(count)) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
