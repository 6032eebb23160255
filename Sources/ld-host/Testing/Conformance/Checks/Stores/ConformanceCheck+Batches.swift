internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let batches: [ConformanceCheck] = [
        ConformanceCheck("batch.applies", "a batch sets values and removes them, absent ones too", if: .batch) {
            store in
            try store.set("replaced", to: "old")
            try store.set("removed", to: "old")
            try store.store.apply([
                change("new", "1", in: store), change("replaced", "2", in: store), change("removed", nil, in: store),
                change("never", nil, in: store),
            ])
            try store.expect("new", holds: Data("1".utf8), "set by a batch")
            try store.expect("replaced", holds: Data("2".utf8), "replaced by a batch")
            try store.expect("removed", holds: nil, "removed by a batch")
            try store.expect("never", holds: nil, "removed by a batch")
        },
        ConformanceCheck("batch.order", "of two changes of the same name, the later one wins", if: .batch) { store in
            try store.store.apply([
                change("set", "1", in: store), change("set", "2", in: store),
                change("removed", "1", in: store), change("removed", nil, in: store),
                change("again", nil, in: store), change("again", "3", in: store),
            ])
            try store.expect("set", holds: Data("2".utf8), "set twice in a batch")
            try store.expect("removed", holds: nil, "set and then removed in a batch")
            try store.expect("again", holds: Data("3".utf8), "removed and then set in a batch")
        },
        ConformanceCheck(
            "batch.many", "a batch may have many changes, long names and several namespaces", if: .batch
        ) { store in
            let places = [store.place, store.place("-other")]
            let addresses = (0..<150).map { index in
                let suffix = index.isMultiple(of: 10) ? String(repeating: "/", count: 200) : ""
                return StorageAddress(places[index % 2], name: "\(index)\(suffix)")
            }
            for (index, address) in addresses.enumerated() where index.isMultiple(of: 3) {
                try store.store.set(store.handle(address), to: Data("old".utf8), attributes: nil)
            }
            try store.store.apply(
                addresses.enumerated().map { index, address in
                    let value = index.isMultiple(of: 6) ? nil : Pattern.data(UInt64(index), index * 50)
                    return StorageChange(key: try store.handle(address), value: value)
                })
            for (index, address) in addresses.enumerated() {
                let found = try store.store.get(store.handle(address))
                let expected = index.isMultiple(of: 6) ? nil : Pattern.data(UInt64(index), index * 50)
                try expect(
                    found == expected,
                    "change \(index + 1) of a batch of 150: expected \(expected.shown), found \(found.shown)")
            }
        },
        ConformanceCheck("batch.none", "a batch that fails changes nothing", if: .batch, .limit) { store in
            guard let largest = store.properties.largestValue else { return }
            try store.set("old", to: "old")
            try store.set("kept", to: "kept")
            let changes = [
                try change("old", "new", in: store), try change("kept", nil, in: store),
                try change("first", "new", in: store),
                StorageChange(key: try store.handle("large"), value: Data(count: Int(largest) + 1)),
                try change("last", "new", in: store),
            ]
            var isRefused = false
            do { try store.store.apply(changes) } catch { isRefused = true }
            try expect(isRefused, "a batch with a value above the limit of \(largest) bytes was accepted")
            for (name, text) in [("old", "old"), ("kept", "kept"), ("first", nil), ("large", nil), ("last", nil)] {
                try store.expect(name, holds: text.map { Data($0.utf8) }, "after a batch failed")
            }
        },
        ConformanceCheck("batch.empty", "a batch without changes succeeds", if: .batch) { store in
            try store.store.apply([])
        },
        ConformanceCheck("batch.attributes", "attributes are kept with the values of a batch", if: .batch, .attributes)
        {
            store in
            let given = ValueAttributes(serializer: "json", owner: "batch")
            try store.store.apply([
                StorageChange(key: store.handle("value"), value: Data("1".utf8), attributes: given)
            ])
            try expectAttributes(of: "value", are: given, in: store)
        },
    ]

    private static func change(
        _ name: String, _ text: String?, in store: StoreUnderTest
    ) throws -> StorageChange<StoreHandle> {
        StorageChange(key: try store.handle(name), value: text.map { Data($0.utf8) })
    }
}
