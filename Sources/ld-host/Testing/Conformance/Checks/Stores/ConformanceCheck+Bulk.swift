internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let bulk = bulkReading + bulkChanges + bulkMarks

    private static let bulkReading: [ConformanceCheck] = [
        ConformanceCheck(
            "bulk.order", "a bulk read gives every value once with its name, in ascending order of bytes",
            if: .bulk
        ) { store in
            let names = ["b", "a", "e\u{301}", "f", "ab", "\u{1f600}", "\u{ffee}", "10", "9", "-", "a/b", "a b", "~"]
            for name in names { try store.set(name, to: "value of \(name)") }
            let found = try store.values()
            try expect(found.map(\.name), are: sorted(names), "the names of the values")
            for value in found { try expectValue(value, is: Data("value of \(value.name)".utf8)) }
        },
        ConformanceCheck(
            "bulk.place", "only the values of the requested namespace are read; an unknown one has none", if: .bulk
        ) { store in
            let other = store.place("-other")
            try store.set("mine", to: "1")
            try store.store.set(store.handle(StorageAddress(other, name: "other")), to: Data("2".utf8), attributes: nil)
            try expect(store.values().map(\.name), are: ["mine"], "the values of one of two namespaces")
            try expect(store.values(in: other).map(\.name), are: ["other"], "the values of the other of two namespaces")
            let unknown = store.place("-unknown")
            try expect(store.values(in: unknown).map(\.name), are: [], "the values of an unknown namespace")
        },
        ConformanceCheck("bulk.prefix", "only values whose names start with the prefix, by bytes, are read", if: .bulk)
        {
            store in
            let names = ["a", "ab", "abc", "b", "e", "e\u{301}x", "\u{e9}y", "%", "%25"]
            for name in names { try store.set(name, to: "value") }
            for prefix in ["", "a", "ab", "abcd", "e", "\u{e9}", "%", "z"] {
                let expected = sorted(names.filter { $0.utf8.starts(with: prefix.utf8) })
                let found = try store.values(prefix: prefix).map(\.name)
                try expect(found, are: expected, "the names of values that start with '\(prefix)'")
            }
        },
        ConformanceCheck(
            "bulk.after", "only values after the given name are read, whether that exists or not", if: .bulk
        ) {
            store in
            let names = (1...9).map { "name\($0)" }
            for name in names { try store.set(name, to: "value") }
            for (after, first) in [("name1", 2), ("name5", 6), ("name55", 6), ("name", 1), ("a", 1), ("name9", 10)] {
                let found = try store.values(after: after).map(\.name)
                try expect(found, are: Array(names.dropFirst(first - 1)), "the names of values after '\(after)'")
            }
            for (after, expected) in [("name7", ["name8", "name9"]), ("a", names), ("z", [])] {
                let found = try store.values(prefix: "name", after: after).map(\.name)
                try expect(found, are: expected, "the names of values after '\(after)' that start with 'name'")
            }
        },
        ConformanceCheck(
            "bulk.largest", "a value larger than requested comes without its bytes; an empty one is a value",
            if: .bulk, .room(for: 100_000)
        ) { store in
            let sizes = ["empty": 0, "equal": 1000, "larger": 1001, "large": 100_000]
            try store.applyAll(
                sizes.map { name, size in
                    BoundaryChange(
                        address: StorageAddress(store.place, name: name), value: Pattern.data(UInt64(size), size))
                })
            for largest in [1000, 0, 1001, .max] {
                let found = try store.values(largest: largest)
                try expect(found.map(\.name), are: sorted(Array(sizes.keys)), "the names of the values")
                for value in found {
                    let size = sizes[value.name, default: 0]
                    try expectValue(value, is: size > largest ? nil : Pattern.data(UInt64(size), size))
                }
            }
        },
        ConformanceCheck("bulk.stop", "a bulk read ends when the caller stops it", if: .bulk) { store in
            for index in 1...5 { try store.set("name\(index)", to: "value") }
            let count = try store.store.countValues(in: store.place, wanting: 2)
            try expect(count == 2, "the caller stopped after 2 values, and got \(count)")
        },
        ConformanceCheck("bulk.moment", "all values of a bulk read are from one moment", if: .bulk) { store in
            let names = (10..<30).map { "name\($0)" }
            try store.applyAll(names.map { store.change($0, "old") })
            var found: [BoundaryValue] = []
            try store.store.forEachValue(in: store.place) { value in
                found.append(BoundaryValue(value))
                // The read pauses halfway, so that the changes are certain to happen during it. A store may make them
                // wait.
                if found.count == 7 {
                    _ = try? store.elsewhere {
                        try store.applyAll(
                            names.map { store.change($0, $0.hasSuffix("5") ? nil : "new") }
                                + [store.change("name1000", "new"), store.change("name295", "new")])
                    }
                }
                return true
            }
            try expect(found.map(\.name), are: names, "the names of values that others changed during the reading")
            for value in found { try expectValue(value, is: Data("old".utf8), " while others changed it") }
        },
        ConformanceCheck(
            "bulk.attributes", "a bulk read returns each value's attributes, and a bulk change keeps them", if: .bulk,
            .attributes
        ) { store in
            let full = ValueAttributes(
                contentType: "application/json", serializer: "json", versionTag: "3", appVersion: "1.2 (\u{e9})",
                owner: "Appearance\n\"x\"")
            let given = [
                "full": full, "like": full, "none": nil, "other": ValueAttributes(serializer: "js", owner: "Appear"),
                "partial": ValueAttributes(versionTag: "3"), "set": full,
            ]
            try store.set("set", to: Data("value".utf8), attributes: full)
            try store.applyAll(
                given.filter { $0.key != "set" }.map { name, attributes in
                    BoundaryChange(
                        address: StorageAddress(store.place, name: name), value: Data("of \(name)".utf8),
                        attributes: attributes)
                })
            for (name, attributes) in given where name != "set" {
                try expectAttributes(of: name, are: attributes ?? ValueAttributes(), in: store)
            }
            for largest in [0, 1000] {
                for value in try store.values(largest: largest) {
                    let expected = try attributes(of: value.name, in: store)
                    try expect(
                        value.attributes == expected,
                        "the attributes of '\(value.name)' in a bulk read: expected \(expected), "
                            + "found \(value.attributes.map { "\($0)" } ?? "none")")
                }
            }
        },
    ]

    private static func expectValue(_ value: BoundaryValue, is expected: Data?, _ when: String = "") throws {
        try expect(
            value.value == expected,
            "'\(value.name)' in a bulk read\(when): expected \(expected.shown), found \(value.value.shown)")
    }

    private static func sorted(_ names: [String]) -> [String] {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

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
