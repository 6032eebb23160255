internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let presence: [ConformanceCheck] = [
        ConformanceCheck("get.absent", "a name that was never stored has no value") { store in
            try store.set("neighbour", to: "value")
            try store.expect("never", holds: nil)
            try store.expect("neighbou", holds: nil)
        },
        ConformanceCheck("exists.agrees", "exists is true exactly while a value is stored") { store in
            let handle = try store.handle("value")
            let open = try store.store
            try expect(!open.exists(handle), "exists returns true for a value that was never stored")
            try store.set("value", to: "value")
            try expect(open.exists(handle), "exists returns false for a stored value")
            try store.remove("value")
            try expect(!open.exists(handle), "exists returns true for a removed value")
        },
        ConformanceCheck("set.replaces", "a value replaces the old one, whether shorter or longer") { store in
            for text in ["first", "a longer second value", "3", "the fourth, longer again", "5th"] {
                try store.set("value", to: text)
                try store.expect("value", holds: Data(text.utf8), "after it replaced another")
            }
        },
        ConformanceCheck("remove.removes", "a removed value is absent, and remove reports that there was one") {
            store in
            try store.set("removed", to: "removed")
            try store.set("kept", to: "kept")
            try expect(store.remove("removed"), "remove reports that there was no value")
            try store.expect("removed", holds: nil, "after it was removed")
            try store.expect("kept", holds: Data("kept".utf8), "after another was removed")
        },
        ConformanceCheck("remove.absent", "removing an absent value succeeds, and remove reports that") { store in
            try expect(!store.remove("never"), "remove reports a value under a name that was never stored")
            try store.set("twice", to: "twice")
            try store.remove("twice")
            try expect(!store.remove("twice"), "remove reports a value under a name that was already removed")
        },
        ConformanceCheck("handle.lasts", "a handle stays valid while its value is set, removed and set again") {
            store in
            let handle = try store.handle("value")
            let open = try store.store
            for round in 0..<3 {
                let value = Data("round \(round)".utf8)
                try open.set(handle, to: value, attributes: nil)
                try store.expect("value", holds: value, "set by a handle, round \(round + 1)")
                try expect(open.remove(handle), "remove by an old handle reports that there was no value")
            }
        },
        ConformanceCheck("handle.agree", "two handles of the same address reach the same value") { store in
            let first = try store.anotherHandle("value")
            let second = try store.anotherHandle("value")
            let open = try store.store
            for (writer, reader, text) in [(first, second, "one"), (second, first, "two"), (first, second, "three")] {
                try open.set(writer, to: Data(text.utf8), attributes: nil)
                let found = try open.get(reader)
                try expect(
                    found == Data(text.utf8), "one handle set '\(text)', the other reads \(found.shown)")
            }
            _ = try open.remove(first)
            let found = try open.get(second)
            try expect(found == nil, "one handle removed the value, the other reads \(found.shown)")
        },
    ]
}
