internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let boundary: [ConformanceCheck] = [
        ConformanceCheck(
            "boundary.one-write", "get delivers a value whole in one call, and makes no call if it is absent"
        ) {
            store in
            let open = try store.store
            let absent = try open.observeGet(store.handle("absent"))
            try expect(
                absent.pieces.isEmpty && absent.status == LD_ABSENT,
                "an absent value: expected status 1 and no call, found status \(absent.status) "
                    + "and \(absent.pieces.count) calls")
            for size in [1, 100, 77_777] {
                try store.set("value", to: Pattern.data(1, size))
                let found = try open.observeGet(store.handle("value"))
                try expect(
                    found.pieces.count == 1 && found.status == LD_OK,
                    "a value of \(size) bytes: expected status 0 and one call, found status \(found.status) "
                        + "and \(found.pieces.count) calls")
            }
        },
        ConformanceCheck("boundary.reports", "a failure is reported exactly once, and nothing else is reported") {
            store in
            let open = try store.store
            let handle = try store.handle("value")
            let small = Pattern.data(1, 4321)
            var calls: [(String, Observation)] = [
                ("get of an absent value", open.observeGet(handle)),
                ("exists of an absent value", open.observeExists(handle)),
                ("remove of an absent value", open.observeRemove(handle)),
                ("set", small.withUnsafeBytes { open.observeSet(handle, to: $0) }),
                ("get", open.observeGet(handle)), ("exists", open.observeExists(handle)),
                ("set over a value", small.withUnsafeBytes { open.observeSet(handle, to: $0) }),
                ("remove", open.observeRemove(handle)),
            ]
            if let largest = store.properties.largestValue, largest <= 64 << 20 {
                let large = Data(count: Int(largest) + 1)
                calls.append(
                    ("set of a value above the limit", large.withUnsafeBytes { open.observeSet(handle, to: $0) }))
            }
            for (call, observed) in calls {
                let expected = observed.status == LD_FAILED ? 1 : 0
                try expect(
                    observed.reports.count == expected && observed.status >= LD_FAILED,
                    "\(call) returned \(observed.status) with \(observed.reports.count) reports; expected \(expected)")
            }
        },
        ConformanceCheck("boundary.abilities", "an ability always has the same table, and an unknown one has none") {
            store in
            let open = try store.store
            for id in open.abilityIDs {
                try expect(
                    open.ability(id) == open.ability(id), "the ability \(id) has a different table the second time")
            }
            for id in ["localdata.store.unknown/1", "localdata.store.enumeration/999", "", "x"] {
                try expect(open.ability(id) == nil, "the store claims the ability '\(id)', which does not exist")
            }
        },
        ConformanceCheck("boundary.stops", "get stops when the sink asks for it, and reports that") { store in
            let open = try store.store
            for size in [1, 100_000] {
                try store.set("value", to: Pattern.data(1, size))
                let found = try open.observeGet(store.handle("value")) { _ in false }
                try expect(
                    found.status == LD_STOPPED && found.pieces.count == 1 && found.reports.isEmpty,
                    "the sink asked to stop at a value of \(size) bytes: expected status 2 and one call, found status "
                        + "\(found.status), \(found.pieces.count) calls and \(found.reports.count) reports")
                guard open.abilities.transactions != nil else { continue }
                let transaction = try BoundaryTransaction(open)
                defer { transaction.rollback() }
                let inside = try transaction.observeGet(store.handle("value")) { _ in false }
                try expect(
                    inside.status == LD_STOPPED,
                    "the sink asked to stop in a transaction: expected status 2, found "
                        + "\(inside.status)")
            }
        },
        ConformanceCheck(
            "boundary.sizes", "an address and a namespace of a later host, which are larger, name the same key"
        ) {
            store in
            let open = try store.store
            try store.set("value", to: "value")
            let handle = try open.resolve("value", inLater: store.place)
            defer { open.release(handle) }
            let found = try open.get(handle)
            try expect(
                found == Data("value".utf8),
                "structs with members that came later: expected 5 bytes, found \(found.shown)")
        },
        ConformanceCheck("boundary.no-lock", "no lock that others need is held while a value is delivered") { store in
            try store.set("value", to: "value")
            try store.set("other", to: "other")
            let open = try store.store
            let (handle, other) = (try store.handle("value"), try store.handle("other"))
            try open.observeGet(handle) { _ in
                let isDone = try store.elsewhere {
                    try open.set(handle, to: Data("new".utf8), attributes: nil)
                    _ = try open.get(handle)
                    _ = try open.remove(other)
                }
                try expect(isDone, "while get delivers a value, another thread cannot set it")
                return true
            }.succeeded()
        },
    ]
}
