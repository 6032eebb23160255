internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension ConformanceCheck {
    static let bulkChanges: [ConformanceCheck] = [
        ConformanceCheck("bulk.applies", "a bulk change sets values and removes them, absent ones too", if: .bulk) {
            store in
            let other = store.place("-other")
            try store.set("replaced", to: "old")
            try store.set("removed", to: "old")
            try store.store.set(
                store.handle(StorageAddress(other, name: "removed")), to: Data("old".utf8), attributes: nil)
            try store.applyAll([
                store.change("new", "1"), store.change("replaced", "2"), store.change("removed", "3", in: other),
                store.change("removed", nil), store.change("never", nil), store.change("empty", ""),
                store.change("new", "4", in: other),
            ])
            for (name, text) in [("new", "1"), ("replaced", "2"), ("removed", nil), ("never", nil), ("empty", "")] {
                try store.expect(name, holds: text.map { Data($0.utf8) }, "after a bulk change")
            }
            for (name, text) in [("new", "4"), ("removed", "3"), ("never", nil)] {
                try store.expect(
                    StorageAddress(other, name: name), holds: text.map { Data($0.utf8) },
                    "after a bulk change, in another namespace")
            }
        },
        ConformanceCheck("bulk.latest", "of two changes of the same name in bulk, the later one wins", if: .bulk) {
            store in
            try store.applyAll([
                store.change("set", "1"), store.change("set", "2"), store.change("removed", "1"),
                store.change("removed", nil), store.change("again", nil), store.change("again", "3"),
            ])
            try store.expect("set", holds: Data("2".utf8), "set twice in a bulk change")
            try store.expect("removed", holds: nil, "set and then removed in a bulk change")
            try store.expect("again", holds: Data("3".utf8), "removed and then set in a bulk change")
        },
        ConformanceCheck(
            "bulk.many", "a bulk change may have very many changes, the longest names and several namespaces", if: .bulk
        ) { store in
            let places = [store.place, store.place("-other")]
            let addresses = (0..<3000).map { index in
                let name = "\(index)-" + String(repeating: "/", count: index.isMultiple(of: 10) ? 1024 : 0)
                return StorageAddress(places[index % 2], name: String(name.prefix(StorageAddress.longestName)))
            }
            let open = try store.store
            // A handle for each would take longer than all the rest.
            defer { _ = try? open.apply(many: addresses.map { BoundaryChange(address: $0, value: nil) }) }
            func value(_ index: Int, _ round: Int) -> Data? {
                if round == 2, index.isMultiple(of: 6) { return nil }
                return Data("\(index) in round \(round)".utf8) + Data(count: index % 500)
            }
            for round in 1...2 {
                let conflicts = try open.apply(
                    many: addresses.enumerated().map { BoundaryChange(address: $1, value: value($0, round)) })
                try expect(conflicts, are: [], "the conflicts of changes without expectations")
                var found: [StorageAddress: Data] = [:]
                for place in places {
                    for item in try store.values(in: place) {
                        found[StorageAddress(place, name: item.name)] = item.value
                    }
                }
                for (index, address) in addresses.enumerated() {
                    let (found, expected) = (found[address], value(index, round))
                    try expect(
                        found == expected,
                        "change \(index + 1) of 3000: expected \(expected.shown), found \(found.shown)")
                }
            }
        },
        ConformanceCheck("bulk.empty", "a bulk change without changes succeeds", if: .bulk) { store in
            try store.applyAll([])
        },
        ConformanceCheck("bulk.none", "a bulk change that fails changes nothing", if: .bulk, .limit) { store in
            guard let largest = store.properties.largestValue else { return }
            try store.set("old", to: "old")
            try store.set("kept", to: "kept")
            let large = BoundaryChange(
                address: StorageAddress(store.place, name: "large"), value: Data(count: Int(largest) + 1))
            var isRefused = false
            do {
                _ = try store.apply([
                    store.change("old", "new"), store.change("kept", nil), store.change("first", "new"), large,
                    store.change("last", "new"),
                ])
            } catch is StorageError { isRefused = true }
            try expect(isRefused, "a bulk change with a value above the limit of \(largest) bytes was accepted")
            for (name, text) in [("old", "old"), ("kept", "kept"), ("first", nil), ("large", nil), ("last", nil)] {
                try store.expect(name, holds: text.map { Data($0.utf8) }, "after a bulk change failed")
            }
        },
        ConformanceCheck("bulk.told", "a watch reports bulk changes", if: .bulk, .watch) { store in
            try store.set("removed", to: "old")
            let watch = try store.watch()
            try store.applyAll([store.change("one", "1"), store.change("removed", nil), store.change("two", "2")])
            try expectTold(watch, ["one", "removed", "two"], by: "a bulk change", store)
        },
    ]
}
