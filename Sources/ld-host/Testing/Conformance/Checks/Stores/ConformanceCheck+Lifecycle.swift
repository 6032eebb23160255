internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    /// The checks that fail if the component does not open at all.
    static let openings: Set<String> = [
        opening, "crypto.\(cryptoOpening)", "sync.\(syncOpening)", "pack.\(packOpening)",
    ]

    private static let opening = "lifecycle.open"

    static let lifecycle: [ConformanceCheck] = [
        ConformanceCheck(opening, "the store opens with its options") { store in
            _ = try store.store
        },
        ConformanceCheck("lifecycle.options", "every option has a unique name and a line of help") { store in
            try store.subject.expectTidyOptions()
        },
        ConformanceCheck("lifecycle.reopen", "a closed store can be opened again with the same options") { store in
            try store.set("before", to: "before")
            try store.close()
            try store.open()
            try store.set("after", to: "after")
            try store.expect("after", holds: Data("after".utf8))
            try store.remove("before")
        },
        ConformanceCheck(
            "durable.reopen", "a durable store keeps its values when it is closed and opened again", if: .durable
        ) { store in
            let kept = Pattern.data(1, 10_000)
            try store.set("kept", to: kept)
            try store.set("gone", to: "gone")
            try store.remove("gone")
            try store.close()
            try store.open()
            try store.expect("kept", holds: kept, "after it was opened again")
            try store.expect("gone", holds: nil, "after it was opened again")
        },
        ConformanceCheck(
            "durable.kill", "a finished set or remove survives a kill of the process", if: .durable,
            .peer
        ) { store in
            try store.set("gone", to: "gone")
            try store.set("old", to: "old")
            try store.close()
            _ = try store.peer([
                .remove(name: "gone"), .set(name: "new", seed: 7, size: 10_000), .set(name: "old", seed: 8, size: 100),
                .die,
            ])
            try store.open()
            try store.expect("new", holds: Pattern.data(7, 10_000), "after the process that set it was killed")
            try store.expect("old", holds: Pattern.data(8, 100), "after the process that replaced it was killed")
            try store.expect("gone", holds: nil, "after the process that removed it was killed")
        },
    ]
}
