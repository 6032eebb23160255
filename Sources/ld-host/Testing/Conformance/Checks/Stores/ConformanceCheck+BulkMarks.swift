internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let bulkMarks: [ConformanceCheck] = [
        ConformanceCheck(
            "bulk.marks", "a value's mark changes with each write and only then, and is never 0", if: .bulk
        ) { store in
            var marks: [UInt64] = []
            for (way, write) in writes(of: "value", in: store) {
                try write()
                let mark = try store.mark(of: "value")
                try expect(mark != 0, "the mark of a value is 0 after \(way)")
                try expect(!marks.contains(mark), "after \(way), a value has a mark that it had before")
                try store.set("another", to: "of \(way)")
                try expect(store.mark(of: "value") == mark, "the mark of a value changed without a write")
                marks.append(mark)
            }
        },
        ConformanceCheck("bulk.expected", "changes whose expectations hold are made", if: .bulk) { store in
            for name in ["set", "removed"] { try store.set(name, to: "old") }
            for round in 1...2 {
                try store.applyAll([
                    store.change("set", "\(round)", mark: store.mark(of: "set")),
                    store.change("new\(round)", "new", mark: 0), store.change("never", nil, mark: 0),
                ])
                try store.expect("set", holds: Data("\(round)".utf8), "set in a bulk change that expected its mark")
                try store.expect(
                    "new\(round)", holds: Data("new".utf8), "set in a bulk change that expected no value")
            }
            try store.applyAll([store.change("removed", nil, mark: store.mark(of: "removed"))])
            try store.expect("removed", holds: nil, "removed by a change that expected its mark")
        },
        ConformanceCheck("bulk.turn", "each change's expectation is checked after the changes before it", if: .bulk) {
            store in
            try store.set("old", to: "old")
            try store.applyAll([
                store.change("old", nil, mark: store.mark(of: "old")), store.change("old", "new", mark: 0),
                store.change("new", "1", mark: 0), store.change("new", nil), store.change("new", "2", mark: 0),
            ])
            try store.expect("old", holds: Data("new".utf8), "removed and then set in a bulk change")
            try store.expect("new", holds: Data("2".utf8), "set, removed and set in a bulk change")
            let conflicts = try store.apply([store.change("twice", "1", mark: 0), store.change("twice", "2", mark: 0)])
            try expect(conflicts, are: [1], "the indices of changes whose expectations fail because of the one before")
        },
        ConformanceCheck("bulk.conflicts", "exactly the changes whose expectations failed are reported", if: .bulk) {
            store in
            for name in ["there", "stale", "stale-2", "gone", "kept"] { try store.set(name, to: "old") }
            let (stale, other) = (try store.mark(of: "stale"), try store.mark(of: "stale-2"))
            let (gone, kept) = (try store.mark(of: "gone"), try store.mark(of: "kept"))
            for name in ["stale", "stale-2"] { try store.set(name, to: "new") }
            try store.remove("gone")
            let conflicts = try store.apply([
                store.change("new", "new", mark: 0), store.change("there", "new", mark: 0),
                store.change("stale", "newest", mark: stale), store.change("kept", "new", mark: kept),
                store.change("stale-2", nil, mark: other), store.change("gone", "new", mark: gone),
                store.change("free", "new"), store.change("never", nil, mark: kept),
            ])
            try expect(conflicts, are: [1, 2, 4, 5, 7], "the indices of changes whose expectations fail")
        },
        ConformanceCheck("bulk.unchanged", "if the expectation of one change fails, no change is made", if: .bulk) {
            store in
            for name in ["replaced", "removed", "marked", "there"] { try store.set(name, to: "old") }
            let marked = try store.mark(of: "marked")
            let before = try store.values().map { "\($0.name) \($0.value.shown) \($0.mark)" }
            let conflicts = try store.apply([
                store.change("replaced", "new"), store.change("removed", nil), store.change("new", "new", mark: 0),
                store.change("marked", "new", mark: marked), store.change("there", "new", mark: 0),
                store.change("last", "new"),
            ])
            try expect(conflicts, are: [4], "the indices of changes whose expectations fail")
            let after = try store.values().map { "\($0.name) \($0.value.shown) \($0.mark)" }
            try expect(after, are: before, "the values and marks after changes that were not made")
        },
        ConformanceCheck(
            "bulk.race", "of several threads that expect the same mark, one changes the value", if: .bulk
        ) { store in
            let (threads, times) = (4, 10)
            try store.set("count", to: "0")
            try Worker.run(threads) { _ in
                for _ in 0..<times { try countUp("count", in: store, attempts: threads * times) }
            }
            try store.expect("count", holds: Data("\(threads * times)".utf8), "counted up by \(threads) threads")
        },
        ConformanceCheck(
            "bulk.transaction", "a commit over a value that a bulk change has changed is refused as busy",
            if: .bulk, .transactions
        ) { store in
            for readsOnly in [true, false] {
                try conflict(readsOnly: readsOnly, in: store) { name, value in
                    let conflicts = try store.apply([
                        store.change("another", "new"),
                        BoundaryChange(address: StorageAddress(store.place, name: name), value: value),
                    ])
                    try expect(
                        conflicts, are: [], "the conflicts of changes without expectations")
                }
            }
        },
    ]

    /// Every way in which the store can write a value; they all write the same value.
    private static func writes(of name: String, in store: StoreUnderTest) -> [(String, () throws -> Void)] {
        let same = Data("same".utf8)
        return [
            ("a first set", { try store.set(name, to: same) }), ("another set", { try store.set(name, to: same) }),
            (
                "a remove and a set",
                {
                    try store.remove(name)
                    try store.set(name, to: same)
                }
            ), ("a bulk change", { try store.applyAll([store.change(name, "same")]) }),
            (
                "a batch",
                {
                    guard try store.store.abilities.batch != nil else { return try store.set(name, to: same) }
                    try store.store.apply([StorageChange(key: store.handle(name), value: same)])
                }
            ),
            (
                "a write in pieces",
                {
                    guard try store.store.abilities.streaming != nil else { return try store.set(name, to: same) }
                    _ = try store.store.write(store.handle(name), pieces: [same])
                }
            ),
            (
                "a transaction",
                {
                    guard try store.store.abilities.transactions != nil else { return try store.set(name, to: same) }
                    let transaction = try BoundaryTransaction(store.store)
                    try transaction.set(store.handle(name), to: same)
                    try transaction.commit()
                }
            ),
        ]
    }

    /// Increments a number, retrying until it succeeds.
    private static func countUp(_ name: String, in store: StoreUnderTest, attempts: Int) throws {
        // Each failed attempt means that another thread's attempt succeeded.
        for _ in 0...attempts {
            guard let now = try store.values(prefix: name).first, let text = now.value,
                let count = Int(String(decoding: text, as: UTF8.self))
            else { throw ConformanceFailure("'\(name)' is not a number while several threads increment it") }
            if try store.apply([store.change(name, "\(count + 1)", mark: now.mark)]).isEmpty { return }
        }
        throw ConformanceFailure("a change's expectation failed in \(attempts + 1) attempts")
    }
}
