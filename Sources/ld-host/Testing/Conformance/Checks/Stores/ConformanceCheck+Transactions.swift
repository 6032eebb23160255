internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let transactions: [ConformanceCheck] = [
        ConformanceCheck("transaction.own", "a transaction sees its own changes", if: .transactions) { store in
            try store.set("old", to: "old")
            try store.set("removed", to: "old")
            let transaction = try BoundaryTransaction(store.store)
            defer { transaction.rollback() }
            try transaction.set(store.handle("new"), to: Data("new".utf8))
            try transaction.set(store.handle("old"), to: Data("changed".utf8))
            let was = try transaction.remove(store.handle("removed"))
            try expect(was, "remove in a transaction reports that there was no value")
            for (name, text) in [("new", "new"), ("old", "changed"), ("removed", nil)] {
                let found = try transaction.get(store.handle(name))
                try expect(
                    found == text.map { Data($0.utf8) },
                    "'\(name)' in the transaction that changed it: expected \(text ?? "none"), found \(found.shown)")
            }
        },
        ConformanceCheck("transaction.isolated", "nobody else sees a change before it is committed", if: .transactions)
        {
            store in
            try store.set("old", to: "old")
            let transaction = try BoundaryTransaction(store.store)
            defer { transaction.rollback() }
            try transaction.set(store.handle("new"), to: Data("new".utf8))
            try transaction.set(store.handle("old"), to: Data("changed".utf8))
            let isDone = try store.elsewhere {
                try store.expect("new", holds: nil, "set in an uncommitted transaction")
                try store.expect("old", holds: Data("old".utf8), "changed in an uncommitted transaction")
            }
            try expect(isDone, "while a transaction is open, another thread cannot read")
        },
        ConformanceCheck("transaction.commit", "a commit makes every change take effect", if: .transactions) { store in
            try store.set("removed", to: "old")
            let transaction = try BoundaryTransaction(store.store)
            try transaction.set(store.handle("one"), to: Data("1".utf8))
            try transaction.set(store.handle("two"), to: Data("2".utf8))
            try transaction.remove(store.handle("removed"))
            try transaction.commit()
            try store.expect("one", holds: Data("1".utf8), "set in a committed transaction")
            try store.expect("two", holds: Data("2".utf8), "set in a committed transaction")
            try store.expect("removed", holds: nil, "removed in a committed transaction")
        },
        ConformanceCheck("transaction.rollback", "a rollback leaves everything as it was", if: .transactions) { store in
            try store.set("old", to: "old")
            let transaction = try BoundaryTransaction(store.store)
            try transaction.set(store.handle("new"), to: Data("new".utf8))
            try transaction.remove(store.handle("old"))
            transaction.rollback()
            try store.expect("new", holds: nil, "set in a transaction that was rolled back")
            try store.expect("old", holds: Data("old".utf8), "removed in a transaction that was rolled back")
        },
        ConformanceCheck(
            "transaction.conflict", "a commit over a value that was changed meanwhile is refused as busy",
            if: .transactions
        ) { store in
            for readsOnly in [true, false] {
                try conflict(readsOnly: readsOnly, in: store) { try store.set($0, to: $1) }
            }
        },
    ]

    /// Lets another thread change a value that a transaction has read or changed, and then commits.
    static func conflict(
        readsOnly: Bool, in store: StoreUnderTest, _ change: @escaping @Sendable (String, Data) throws -> Void
    ) throws {
        let (name, own) = ("shared-\(readsOnly)", "own-\(readsOnly)")
        let (other, mine) = (Data("other".utf8), Data("mine".utf8))
        try store.set(name, to: "old")
        let transaction = try BoundaryTransaction(store.store)
        _ = try transaction.get(store.handle(name))
        if !readsOnly { try transaction.set(store.handle(name), to: mine) }
        try transaction.set(store.handle(own), to: mine)
        let isRefused = Flag()
        // A store may also make the other thread wait, or refuse its change; then the transaction must succeed.
        let isDone = try store.elsewhere {
            do { try change(name, other) } catch StorageError.busy { isRefused.raise() }
        }
        let hasWon = isDone && !isRefused.isRaised
        do {
            try transaction.commit()
            try expect(
                !hasWon,
                "a transaction that \(readsOnly ? "read" : "changed") a value committed although another thread had changed it"
            )
            try store.expect(own, holds: mine, "set in a committed transaction")
        } catch StorageError.busy {
            try expect(hasWon, "a commit was refused although no other change succeeded")
            try store.expect(name, holds: other, "after a refused commit")
            try store.expect(own, holds: nil, "after a refused commit")
        }
    }
}
