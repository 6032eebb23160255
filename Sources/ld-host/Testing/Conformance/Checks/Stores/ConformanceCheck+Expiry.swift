internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let expiry: [ConformanceCheck] = [
        ConformanceCheck(
            "expiry.before", "a value is present until it expires, and its attributes have the time", if: .expiry
        ) {
            store in
            let expires = try StoreUnderTest.time(in: 3_600_000_000_000)
            try store.set("kept", to: Data("x".utf8), attributes: ValueAttributes(owner: "kit", expires: expires))
            try store.expect("kept", holds: Data("x".utf8), "an hour before it expires")
            let found = try store.store.attributes(of: store.handle("kept"))
            try expect(
                found?.expires == expires, "a value that expires at \(expires) has the expiry \(found?.expires ?? 0)")
            try expect(found?.owner == "kit", "a value that expires has lost its other attributes")
            try expect(try store.store.sweep(nil, limit: 1000) == 0, "a sweep removed a value that has not expired")
            try store.expect("kept", holds: Data("x".utf8), "after a sweep")
        },
        ConformanceCheck("expiry.absent", "an expired value is absent to every read of one value", if: .expiry) {
            store in
            for read in ExpiredRead.all where read.applies(try store.store) {
                try store.setExpired(["value"])
                try expect(try read.isAbsent(store, "value"), "\(read.name) finds a value that has expired")
                // The store may have removed it; the next read has to find an expired one again.
            }
        },
        ConformanceCheck(
            "expiry.told", "a read of an expired value reports that, so that the host discards it", if: .expiry
        ) { store in
            try store.setExpired(["value"])
            let handle = try store.handle("value")
            for _ in 0..<2 {
                var isTold = false
                var found: Data?
                do { found = try store.store.reader(of: handle).read() } catch StorageError.expired { isTold = true }
                try expect(isTold, "get returned \(found.shown) for a value that has expired")
            }
            _ = try store.get("value")
            let after = try store.store.reader(of: handle).read()
            try expect(after == nil, "a value that was discarded is still there")
        },
        ConformanceCheck(
            "expiry.list", "lists and bulk reads leave out what has expired", if: .expiry, .enumeration
        ) { store in
            try store.setExpired(["a", "c"])
            for name in ["b", "d"] { try store.set(name, to: "stays") }
            // From a name on: a list from the start is swept first.
            try expect(try store.names(after: " "), are: ["b", "d"], "the names of values that have not expired")
            try expect(try store.names(after: " ", limit: 2), are: ["b", "d"], "two of them")
            guard try store.store.abilities.bulk != nil else { return }
            try expect(
                try store.values(after: " ").map(\.name), are: ["b", "d"],
                "the bulk read of values that have not expired")
        },
        ConformanceCheck(
            "expiry.replaced", "a value that is set again expires only if the new write has an expiry time", if: .expiry
        ) {
            store in
            let soon = try StoreUnderTest.time(in: StoreUnderTest.moment)
            for name in ["set", "batch", "bulk"] {
                try store.set(name, to: Data("old".utf8), attributes: ValueAttributes(expires: soon))
            }
            try store.set("set", to: "new")
            let batch = try store.handle("batch")
            if try store.store.abilities.batch != nil {
                try store.store.apply([StorageChange(key: batch, value: Data("new".utf8))])
            } else {
                try store.set("batch", to: "new")
            }
            if try store.store.abilities.bulk != nil {
                try store.applyAll([store.change("bulk", "new")])
            } else {
                try store.set("bulk", to: "new")
            }
            StoreUnderTest.wait(until: soon)
            _ = try store.store.sweep(nil, limit: 1000)
            for name in ["set", "batch", "bulk"] {
                try store.expect(name, holds: Data("new".utf8), "when the value before it would have expired")
            }
        },
        ConformanceCheck("expiry.change", "a change finds no value where one has expired", if: .expiry) { store in
            try store.setExpired(["removed", "created", "many", "staged"])
            try expect(try !store.remove("removed"), "remove reports a value that has expired")
            if try store.store.abilities.conditional != nil {
                try expect(
                    try store.setConditionally("created", to: "new", if: .absent) != nil,
                    "a value is not created where one has expired")
                try store.expect("created", holds: Data("new".utf8), "after it was created")
            }
            if try store.store.abilities.bulk != nil {
                try store.applyAll([store.change("many", "new", mark: 0)])
                try store.expect("many", holds: Data("new".utf8), "after a bulk change created it")
            }
            guard try store.store.abilities.transactions != nil else { return }
            let transaction = try BoundaryTransaction(store.store)
            let found = try transaction.get(store.handle("staged"))
            try transaction.set(store.handle("staged"), to: Data("new".utf8))
            try transaction.commit()
            try expect(found == nil, "a transaction finds a value that has expired")
            try store.expect("staged", holds: Data("new".utf8), "after a transaction set it")
        },
        ConformanceCheck(
            "expiry.sweep", "a sweep removes the expired values of one namespace or of all, up to its limit",
            if: .expiry
        ) { store in
            let other = StorageAddress(store.place("-other"), name: "a")
            try store.set("stays", to: "x")
            try store.setExpired(["a", "b", "c"], also: other)
            try expect(try store.expired(), are: ["a", "b", "c"], "the names of expired values")
            try expect(try store.store.sweep(store.place, limit: 2) == 2, "a sweep of at most 2 of 3 values")
            try expect(try store.expired().count == 1, "after a sweep of 2 of 3 expired values")
            try expect(try store.store.sweep(store.place, limit: 1000) == 1, "the sweep of the last of 3 values")
            try expect(try store.expired(in: other.place) == ["a"], "a sweep removed values of another namespace")
            try expect(try store.store.sweep(nil, limit: 1000) == 1, "the sweep of all namespaces")
            try store.expect("stays", holds: Data("x".utf8), "after the sweeps")
        },
    ]
}

extension StoreUnderTest {
    /// How long values stay that a check lets expire, in nanoseconds.
    static let moment: Int64 = 60_000_000

    /// The time in so many nanoseconds.
    ///
    /// - Throws: What a check that fails throws, with a clock that is so late that 64 bits do not hold the time.
    static func time(in nanoseconds: Int64) throws -> Int64 {
        let (time, isTooLate) = Moment.now.addingReportingOverflow(nanoseconds)
        try ConformanceKit.expect(
            !isTooLate, "the clock of this machine is so late that no value can expire after now")
        return time
    }

    /// Waits until values that expire at a time have done so.
    static func wait(until time: Int64) {
        while Moment.now - 2_000_000 <= time { usleep(useconds_t(max(1000, min(500_000, (time - Moment.now) / 1000)))) }
    }

    /// Stores values and waits until they have expired.
    func setExpired(_ names: [String], also address: StorageAddress? = nil) throws {
        let expires = try Self.time(in: Self.moment)
        let attributes = ValueAttributes(expires: expires)
        for name in names { try set(name, to: Data("expires".utf8), attributes: attributes) }
        if let address { try store.set(handle(address), to: Data("expires".utf8), attributes: attributes) }
        Self.wait(until: expires)
    }

    /// The names of values that have expired and are still kept, in order.
    func expired(in place: StorageNamespace? = nil) throws -> [String] {
        var names: [String] = []
        try store.forEachExpired(in: place ?? self.place) {
            names.append($0)
            return true
        }
        return names.sorted()
    }
}
