internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let enumeration: [ConformanceCheck] = [
        ConformanceCheck(
            "enumeration.order", "every name is listed once, in ascending order of bytes", if: .enumeration
        ) {
            store in
            let names = ["b", "a", "e\u{301}", "f", "ab", "\u{1f600}", "\u{ffee}", "10", "9", "-", "a/b", "a b", "~"]
            for name in names { try store.set(name, to: "value") }
            try expect(store.names(), are: sorted(names), "the names")
        },
        ConformanceCheck("enumeration.changes", "a stored name is listed, and a removed one is not", if: .enumeration) {
            store in
            _ = try store.get("never")
            try expect(store.names(), are: [], "the names of an empty namespace after a look-up")
            try store.set("one", to: "1")
            try store.set("two", to: "2")
            try store.remove("one")
            try expect(store.names(), are: ["two"], "the names after one of two was removed")
        },
        ConformanceCheck(
            "enumeration.place", "only the names of the requested namespace are listed; an unknown one has none",
            if: .enumeration
        ) { store in
            let other = store.place("-other")
            try store.set("mine", to: "1")
            try store.store.set(store.handle(StorageAddress(other, name: "other")), to: Data("2".utf8), attributes: nil)
            try expect(store.names(), are: ["mine"], "the names of one of two namespaces")
            try expect(store.names(in: other), are: ["other"], "the names of the other of two namespaces")
            try expect(store.names(in: store.place("-unknown")), are: [], "the names of an unknown namespace")
        },
        ConformanceCheck(
            "enumeration.prefix", "only names that start with the prefix, by bytes, are listed", if: .enumeration
        ) {
            store in
            let names = ["a", "ab", "abc", "b", "e", "e\u{301}x", "\u{e9}y", "%", "%25"]
            for name in names { try store.set(name, to: "value") }
            for prefix in ["", "a", "ab", "abcd", "e", "\u{e9}", "%", "z"] {
                let expected = sorted(names.filter { $0.utf8.starts(with: prefix.utf8) })
                try expect(store.names(prefix: prefix), are: expected, "the names that start with '\(prefix)'")
            }
        },
        ConformanceCheck(
            "enumeration.after", "only names after the given one are listed, whether that exists or not",
            if: .enumeration
        ) {
            store in
            let names = (1...9).map { "name\($0)" }
            for name in names { try store.set(name, to: "value") }
            for (after, first) in [("name1", 2), ("name5", 6), ("name55", 6), ("name", 1), ("a", 1), ("name9", 10)] {
                try expect(
                    store.names(after: after), are: Array(names.dropFirst(first - 1)), "the names after '\(after)'")
            }
            try expect(
                store.names(prefix: "name", after: "name7"), are: ["name8", "name9"],
                "the names after 'name7' that start with 'name'")
        },
        ConformanceCheck("enumeration.limit", "no more names than requested are listed", if: .enumeration) {
            store in
            let names = (1...7).map { "name\($0)" }
            for name in names { try store.set(name, to: "value") }
            for limit in [1, 3, 7, 100] {
                try expect(store.names(limit: limit), are: Array(names.prefix(limit)), "the first \(limit) of 7 names")
            }
        },
        ConformanceCheck("enumeration.stop", "the listing ends when the caller stops it", if: .enumeration) { store in
            for index in 1...5 { try store.set("name\(index)", to: "value") }
            var count = 0
            let found = try store.store.observeNames(in: store.place) { _ in
                count += 1
                return count < 2
            }
            try found.succeeded()
            try expect(
                found.pieces.count == 2, "the caller stopped after 2 names, and got \(found.pieces.count)")
        },
        ConformanceCheck(
            "enumeration.places", "every namespace that has a value is listed once, and no other", if: .enumeration
        ) { store in
            let places = ["1", "2/x", "\u{e9}"].map { store.place($0) } + [store.place("", domain: "conformance-2")]
            let emptied = store.place("emptied")
            let open = try store.store
            for place in places + [emptied] {
                try open.set(store.handle(StorageAddress(place, name: "n")), to: Data("v".utf8), attributes: nil)
            }
            _ = try open.remove(store.handle(StorageAddress(emptied, name: "n")))
            var found: [String] = []
            try open.forEachPlace { place in
                // A store may hold namespaces that do not belong to this check.
                if place.scope.hasPrefix(store.place.scope) { found.append("\(place)") }
                return true
            }
            try expect(sorted(found), are: sorted(places.map { "\($0)" }), "the namespaces")
        },
        ConformanceCheck(
            "enumeration.concurrent", "a name that stays is listed once while others come and go",
            if: .enumeration
        ) { store in
            let steady = (0..<20).map { "name\($0 + 10)" }
            for name in steady { try store.set(name, to: "value") }
            let passing = ["name05", "name105", "name205", "name295"]
            for name in passing { try store.set(name, to: "value") }
            var found: [String] = []
            var isStuck = false
            try store.store.forEachName(in: store.place) { name in
                found.append(name)
                // The listing pauses halfway, so that the changes are certain to happen during it.
                if found.count == 7 {
                    isStuck =
                        !((try? store.elsewhere {
                            for name in passing { try store.remove(name) }
                            for name in ["name125", "name31"] { try store.set(name, to: "value") }
                        }) ?? false)
                }
                return !isStuck
            }
            try expect(!isStuck, "while names are listed, another thread cannot set or remove a value")
            try expect(same(found, sorted(found)), "the names are out of order or listed twice: \(found)")
            for name in steady {
                let count = found.count { $0 == name }
                try expect(count == 1, "'\(name)', stored all the time, was listed \(count) times")
            }
        },
    ]

    private static func sorted(_ names: [String]) -> [String] {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
