internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let watches: [ConformanceCheck] = [
        ConformanceCheck("watch.told", "a watch reports every set and every remove", if: .watch) { store in
            let watch = try store.watch()
            for (what, change) in [
                ("first set", { try store.set("value", to: "1") }), ("second set", { try store.set("value", to: "2") }),
                ("remove", { _ = try store.remove("value") }),
            ] as [(String, () throws -> Void)] {
                watch.forget()
                try change()
                try expect(
                    watch.hears("value", within: store.patience), "the watch did not report the \(what) of a value")
            }
        },
        ConformanceCheck("watch.bulk", "a watch reports changes by batch, in pieces and by transaction", if: .watch) {
            store in
            let watch = try store.watch()
            let open = try store.store
            if open.abilities.batch != nil {
                try open.apply([
                    StorageChange(key: store.handle("batch-1"), value: Data("1".utf8)),
                    StorageChange(key: store.handle("batch-2"), value: Data("2".utf8)),
                ])
                try expectTold(watch, ["batch-1", "batch-2"], by: "a batch", store)
            }
            if open.abilities.streaming != nil {
                _ = try open.write(store.handle("pieces"), pieces: [Data("1".utf8)])
                try expectTold(watch, ["pieces"], by: "a write in pieces", store)
            }
            if open.abilities.transactions != nil {
                let transaction = try BoundaryTransaction(open)
                try transaction.set(store.handle("transaction"), to: Data("1".utf8))
                try transaction.commit()
                try expectTold(watch, ["transaction"], by: "a transaction", store)
            }
        },
        ConformanceCheck("watch.names", "a watch reports every name unchanged", if: .watch) { store in
            let watch = try store.watch()
            let names = ["a/b", ".x", "%41", "e\u{301}", String(repeating: "/", count: 200)]
            for name in names { try store.set(name, to: "1") }
            for name in names {
                watch.forget()
                try store.set(name, to: "2")
                try expect(
                    watch.hears(name, within: store.patience),
                    "the watch did not report the set of '\(name.prefix(20))'")
            }
            let wrong = watch.told.filter { told in
                !told.isEmpty && !names.contains { $0.hasBytes(of: told) }
            }
            try expect(wrong, are: [], "reported names that are not stored")
        },
        ConformanceCheck("watch.prefix", "a watch does not report other names and namespaces", if: .watch) { store in
            let watch = try store.watch(prefix: "in/")
            try store.set("out", to: "1")
            let other = StorageAddress(store.place("-other"), name: "in/other-place")
            try store.store.set(store.handle(other), to: Data("1".utf8), attributes: nil)
            try store.remove("out")
            // Reports arrive with a delay; once this one has arrived, the earlier ones would have too.
            try store.set("in/last", to: "1")
            try expect(
                watch.hears("in/last", within: store.patience), "the watch did not report the set of a watched name")
            let wrong = watch.told.filter { !$0.isEmpty && $0 != "in/last" }
            try expect(wrong, are: [], "reported names that are not watched")
        },
        ConformanceCheck("watch.end", "nothing is reported after a watch has ended", if: .watch) { store in
            let ended = try store.watch()
            let other = try store.watch()
            try store.set("before", to: "1")
            try expect(
                ended.hears("before", within: store.patience), "the watch did not report the set of a watched name")
            ended.end()
            ended.forget()
            try store.set("after", to: "1")
            try expect(other.hears("after", within: store.patience), "ending one watch ended another")
            try expect(ended.told, are: [], "names reported after the end")
        },
    ]

    static func expectTold(
        _ watch: BoundaryWatch, _ names: [String], by what: String, _ store: StoreUnderTest
    ) throws {
        for name in names {
            try expect(
                watch.hears(name, within: store.patience), "the watch did not report the change of '\(name)' by \(what)"
            )
        }
        watch.forget()
    }
}
