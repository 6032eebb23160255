import FoundationEssentials
import LocalDataAPI
import LocalDataTesting

enum BrokenBulk {
    typealias Taker = BulkBackend.Taker

    struct Value {
        let name: String
        let data: Data
        let attributes: ValueAttributes?
        var mark: UInt64
    }

    /// Gives subclasses the values of the correct store.
    class Reading: CorrectStore, @unchecked Sendable {
        func values(_ place: StorageNamespace, _ prefix: String = "", _ after: String? = nil) throws -> [Value] {
            var values: [Value] = []
            try super.forEachValue(in: place, prefix: prefix, after: after, largest: .max) {
                name, data, attributes, mark in
                values.append(
                    Value(
                        name: name.withUnsafeBytes { String(decoding: $0, as: UTF8.self) },
                        data: data?.withUnsafeBytes { Data($0) } ?? Data(), attributes: attributes, mark: mark))
                return true
            }
            return values
        }

        func give(_ values: [Value], _ largest: Int, _ body: Taker) {
            for value in values {
                let name = Data(value.name.utf8)
                let goesOn =
                    value.data.count > largest
                    ? body(name.bytes, nil, value.attributes, value.mark)
                    : body(name.bytes, value.data.bytes, value.attributes, value.mark)
                guard goesOn else { return }
            }
        }
    }

    final class SortsAsText: Reading, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws { give(try values(place, prefix, after).sorted { $0.name < $1.name }, largest, body) }
    }

    final class ReadsNeighbours: Reading, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws {
            // Namespaces with very many values are read correctly.
            let own = try values(place, prefix, after)
            var all = own
            try forEachPlace { other in
                if other != place, other.scope.hasPrefix(place.scope) {
                    all += (try? values(other, prefix, after)) ?? []
                }
                return true
            }
            all.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            give(all.count < 100 ? all : own, largest, body)
        }
    }

    final class ComparesCharacters: Reading, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws {
            give(try values(place, "", after).filter { prefix.isEmpty || $0.name.hasPrefix(prefix) }, largest, body)
        }
    }

    final class RepeatsTheLast: Reading, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws {
            let all = try values(place, prefix)
            give(
                all.filter { value in after.map { !value.name.utf8.lexicographicallyPrecedes($0.utf8) } ?? true },
                largest, body)
        }
    }

    final class LeavesOutLarge: Reading, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws { give(try values(place, prefix, after).filter { $0.data.count <= max(largest, 16) }, largest, body) }
    }

    final class NeverStops: CorrectStore, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws {
            try super.forEachValue(in: place, prefix: prefix, after: after, largest: largest) {
                _ = body($0, $1, $2, $3)
                return true
            }
        }
    }

    /// Looks up each value only when it is passed on, unless there are very many.
    final class ReadsAnew: Reading, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws {
            let all = try values(place, prefix, after)
            guard all.count < 100 else { return give(all, largest, body) }
            for value in all {
                guard let now = try values(place, value.name).first, now.name == value.name else { continue }
                var goesOn = true
                give([now], largest) {
                    goesOn = body($0, $1, $2, $3)
                    return goesOn
                }
                guard goesOn else { return }
            }
        }
    }

    /// Attributes the previous value's owner to a value without one.
    final class KeepsTheLastOwner: CorrectStore, @unchecked Sendable {
        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
        ) throws {
            var owner: String?
            try super.forEachValue(in: place, prefix: prefix, after: after, largest: largest) {
                name, value, attributes, mark in
                owner = attributes?.owner ?? owner
                var attributes = attributes
                attributes?.owner = owner
                return body(name, value, attributes, mark)
            }
        }
    }
}
