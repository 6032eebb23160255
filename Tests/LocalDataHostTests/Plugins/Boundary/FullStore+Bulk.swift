import FoundationEssentials
import LocalDataAPI
import Synchronization

extension FullStore: BulkBackend {
    func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: BulkBackend.Taker
    ) {
        let values = state.withLock { $0.values }.filter { address, _ in
            address.place == place && address.name.utf8.starts(with: prefix.utf8)
                && after.map { $0.utf8.lexicographicallyPrecedes(address.name.utf8) } ?? true
        }.sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
        for (address, value) in values {
            let name = Data(address.name.utf8)
            let mark = UInt64(value.version)
            let goesOn =
                value.data.count > largest
                ? body(name.bytes, nil, value.attributes, mark)
                : body(name.bytes, value.data.bytes, value.attributes, mark)
            guard goesOn else { return }
        }
    }

    func apply(_ changes: BulkChanges) throws -> [Int] {
        try state.withLock { state in
            // Work on a copy: watchers must not be notified of changes that may fail.
            var next = state
            next.watchers = [:]
            var (conflicts, made) = ([Int](), [(StorageAddress, Data?, ValueAttributes?)]())
            try changes.forEach { index, change, name, value in
                let name = name.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                let key = StorageAddress(changes.places[change.place], name: name)
                // This name cannot be written, and the other one reports an invalid index.
                if name == "full" { throw StorageError(.noSpace, "the store is full") }
                if name == "nonsense" { return conflicts.append(changes.count) }
                let now = next.values[key].map { UInt64($0.version) }
                guard change.condition.isFulfilled(by: now) else { return conflicts.append(index) }
                made.append((key, value?.withUnsafeBytes { Data($0) }, change.attributes))
                if let (key, data, attributes) = made.last { Self.put(data, attributes, at: key, in: &next) }
            }
            guard conflicts.isEmpty else { return conflicts }
            for (key, data, attributes) in made { Self.put(data, attributes, at: key, in: &state) }
            return []
        }
    }
}
