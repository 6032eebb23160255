internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

extension ConformanceCheck {
    static let conditional: [ConformanceCheck] = [
        ConformanceCheck(
            "conditional.revision", "a value's revision changes with each write, also with one of the same bytes",
            if: .conditional
        ) { store in
            try expect(store.revision(of: "written") == nil, "a value that was never stored has a revision")
            var seen: Set<UInt64> = []
            for text in ["1", "1", "2"] {
                try store.set("written", to: text)
                let revision = try store.revision(of: "written")
                try expect(revision.map { seen.insert($0).inserted } ?? false, "a write left the value its revision")
                try expect(store.revision(of: "written") == revision, "the revision of a value changed without a write")
            }
            try store.remove("written")
            try store.set("written", to: "1")
            let revision = try store.revision(of: "written")
            try expect(
                revision.map { !seen.contains($0) } ?? false, "a value that was removed and set has an earlier revision"
            )
        },
        ConformanceCheck(
            "conditional.get", "a value is read with its revision and its attributes", if: .conditional
        ) { store in
            for (tag, text) in [("1", "one"), ("a \"quoted\" \\ \u{e9}", "two"), (nil, "three")] {
                let attributes = ValueAttributes(contentType: "text/plain", versionTag: tag, owner: "kit")
                try store.set("tagged", to: Data(text.utf8), attributes: attributes)
                let found = try store.store.revisioned(store.handle("tagged"))
                try expect(found?.data == Data(text.utf8), "expected \(text.shown), found \((found?.data).shown)")
                guard try store.store.abilities.attributes != nil else { continue }
                let read = found?.attributes ?? ValueAttributes()
                try expect(
                    read.versionTag == tag,
                    "a value with the tag \(tag ?? "none") is read with \(read.versionTag ?? "none")")
                try expect(
                    read.owner == "kit" && read.contentType == "text/plain",
                    "a value is read with its revision, but without its owner or type")
            }
        },
        ConformanceCheck(
            "conditional.expires", "a value is read with its revision and the time at which it expires",
            if: .conditional, .expiry
        ) { store in
            let later: Int64 = 4_102_444_800_000_000_000
            for expires in [later, nil, later + 1000] {
                try store.set("lasting", to: Data("1".utf8), attributes: ValueAttributes(expires: expires))
                let found = try store.store.revisioned(store.handle("lasting"))?.attributes.expires
                try expect(found == expires, "a value that expires \(expires.shown) is read with \(found.shown)")
            }
        },
        ConformanceCheck(
            "conditional.create", "a value is created only where no value is stored", if: .conditional
        ) { store in
            let first = try store.setConditionally("created", to: "first", if: .absent)
            try expect(first != nil, "a value is not created although none is stored")
            try expect(store.revision(of: "created") == first, "a created value has another revision than returned")
            try expect(
                store.setConditionally("created", to: "second", if: .absent) == nil, "a value is created over another")
            try store.expect("created", holds: Data("first".utf8), "after another could not be created")
            try store.remove("created")
            try expect(
                store.setConditionally("created", to: "third", if: .absent) != nil,
                "a value is not created where one was removed")
        },
        ConformanceCheck(
            "conditional.replace", "a value is replaced only if it has the expected revision", if: .conditional
        ) { store in
            try expect(
                store.setConditionally("absent", to: "new", if: .revision(1)) == nil,
                "a value that is not there is replaced")
            try store.expect("absent", holds: nil, "after it could not be replaced")
            let first = try store.setConditionally("replaced", to: "first", if: .anything) ?? 0
            try store.set("replaced", to: "second")
            try expect(
                store.setConditionally("replaced", to: "third", if: .revision(first)) == nil,
                "a value is replaced although it was changed meanwhile")
            try store.expect("replaced", holds: Data("second".utf8), "after it could not be replaced")
            let second = try store.revision(of: "replaced") ?? 0
            let third = try store.setConditionally("replaced", to: "third", if: .revision(second))
            try expect(third != nil, "a value with the expected revision is not replaced")
            try expect(store.revision(of: "replaced") == third, "a replaced value has another revision than returned")
            try store.expect("replaced", holds: Data("third".utf8), "after it was replaced")
        },
        ConformanceCheck(
            "conditional.remove", "a value is removed only if it has the expected revision", if: .conditional
        ) { store in
            let handle = try store.handle("taken")
            try expect(try !store.store.remove(handle, ifRevision: 1), "a value that is not there is removed")
            let first = try store.setConditionally("taken", to: "first", if: .anything) ?? 0
            try store.set("taken", to: "second")
            try expect(
                try !store.store.remove(handle, ifRevision: first),
                "a value is removed although it was changed meanwhile")
            try store.expect("taken", holds: Data("second".utf8), "after it could not be removed")
            let second = try store.revision(of: "taken") ?? 0
            try expect(
                try store.store.remove(handle, ifRevision: second), "a value with the expected revision is not removed")
            try store.expect("taken", holds: nil, "after it was removed")
        },
        ConformanceCheck(
            "conditional.attributes", "a conditional write keeps the attributes that come with it",
            if: .conditional, .attributes
        ) { store in
            let given = ValueAttributes(serializer: "json", versionTag: "2", owner: "kit")
            try store.set("described", to: Data("1".utf8), attributes: ValueAttributes(owner: "other"))
            let revision = try store.revision(of: "described") ?? 0
            let handle = try store.handle("described")
            let new = try store.store.set(handle, to: Data("2".utf8), attributes: given, if: .revision(revision))
            try expect(new != nil, "a value with the expected revision is not replaced")
            try expectAttributes(of: "described", are: given, in: store)
        },
        ConformanceCheck(
            "conditional.mark", "a value's revision is its mark in a bulk read", if: .conditional, .bulk
        ) { store in
            try store.set("marked", to: "1")
            try expect(try store.mark(of: "marked") == store.revision(of: "marked"), "the mark is not the revision")
            let revision = try store.revision(of: "marked") ?? 0
            try store.applyAll([store.change("marked", "2", mark: revision)])
            try expect(
                try store.mark(of: "marked") == store.revision(of: "marked"),
                "after a bulk change the mark is not the revision")
        },
        ConformanceCheck(
            "conditional.race", "of simultaneous conditional writes that expect the same revision, one succeeds",
            if: .conditional
        ) { store in
            let (threads, rounds) = (4, store.properties.latency == .memory ? 200 : 12)
            try store.set("count", to: "0")
            try Worker.run(threads) { _ in
                for _ in 0..<rounds {
                    while true {
                        let found = try store.store.revisioned(store.handle("count"))
                        let count = found.flatMap { Int(String(decoding: $0.data, as: UTF8.self)) } ?? 0
                        let new = Data("\(count + 1)".utf8)
                        let condition = WriteCondition.revision(found?.revision ?? 0)
                        let handle = try store.handle("count")
                        if try store.store.set(handle, to: new, attributes: nil, if: condition) != nil { break }
                    }
                }
            }
            try store.expect("count", holds: Data("\(threads * rounds)".utf8), "after \(threads) threads counted")
            for round in 0..<4 {
                let winners = Atomic<Int>(0)
                let name = "created-\(round)"
                try Worker.run(threads) { number in
                    if try store.setConditionally(name, to: "\(number)", if: .absent) != nil {
                        winners.wrappingAdd(1, ordering: .relaxed)
                    }
                }
                let count = winners.load(ordering: .relaxed)
                try expect(count == 1, "of \(threads) threads that created one value, \(count) succeeded")
            }
        },
    ]
}

extension StoreUnderTest {
    /// The revision of a value; `nil` if it is absent.
    func revision(of name: String) throws -> UInt64? { try store.revisioned(handle(name))?.revision }

    /// Stores a value if a condition is fulfilled; returns its revision, or `nil` if it is not.
    func setConditionally(_ name: String, to text: String, if condition: WriteCondition) throws -> UInt64? {
        try store.set(handle(name), to: Data(text.utf8), attributes: nil, if: condition)
    }
}

extension String {
    fileprivate var shown: String { "'\(self)'" }
}

extension Int64? {
    fileprivate var shown: String { map { "at \($0)" } ?? "never" }
}
