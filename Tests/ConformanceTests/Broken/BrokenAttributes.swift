import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenAttributes {
    final class DropsAppVersion: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            var attributes = attributes
            attributes?.appVersion = nil
            try super.set(key, to: value, attributes: attributes)
        }
    }

    final class MergesWithOld: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            var merged = attributes ?? ValueAttributes()
            if let old = try self.attributes(of: key) {
                merged.contentType = merged.contentType ?? old.contentType
                merged.owner = merged.owner ?? old.owner
            }
            try super.set(key, to: value, attributes: merged)
        }
    }

    final class TellsSeconds: CorrectStore, @unchecked Sendable {
        override func attributes(of key: StorageAddress) throws -> ValueAttributes? {
            var attributes = try super.attributes(of: key)
            attributes?.modified? /= 1_000_000_000
            return attributes
        }

        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: BulkBackend.Taker
        ) throws {
            try super.forEachValue(in: place, prefix: prefix, after: after, largest: largest) {
                name, value, attributes, mark in
                var attributes = attributes
                attributes?.modified? /= 1_000_000_000
                return body(name, value, attributes, mark)
            }
        }
    }

    final class InventsAttributes: CorrectStore, @unchecked Sendable {
        override func attributes(of key: StorageAddress) throws -> ValueAttributes? {
            try super.attributes(of: key) ?? ValueAttributes(size: 0)
        }
    }
}
