internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let threads: [ConformanceCheck] = [
        ConformanceCheck("order.threads", "after set or remove has returned, every thread reads that state") { store in
            for round in 0..<4 {
                let value = Pattern.data(UInt64(round), 64)
                try store.set("value", to: value)
                try Worker { try store.expect("value", holds: value, "read by another thread after set returned") }
                    .join()
            }
            try store.remove("value")
            try Worker { try store.expect("value", holds: nil, "read by another thread after remove returned") }.join()
        },
        ConformanceCheck("threads.own-names", "eight threads that use different names lose nothing") { store in
            try Worker.run(8) { thread in
                for round in 0..<12 {
                    let name = "thread \(thread) round \(round % 4)"
                    let value = Pattern.data(UInt64(thread * 100 + round), 200 + thread)
                    try store.set(name, to: value)
                    try store.expect(name, holds: value, "just set by the only thread that uses the name")
                    if round % 3 == 2 {
                        try expect(store.remove(name), "'\(name)': remove reports that there was no value")
                        try store.expect(name, holds: nil, "just removed by the only thread that uses the name")
                    }
                }
            }
        },
        ConformanceCheck("threads.one-name", "readers see whole values while eight threads use the same name") {
            store in
            let size = Int(min(store.properties.largestValue ?? .max, 20_000))
            try expect(size >= Pattern.smallest, "the store's largest value is below \(Pattern.smallest) bytes")
            try store.set("value", to: Pattern.data(0, size))
            _ = try store.get("value")
            // Writers go on as long as anyone reads, so that every reading has something to meet.
            let readers = (0..<4).map { _ in Flag() }
            try Worker.run(8) { thread in
                guard thread >= readers.count else {
                    var round = 0
                    while round < 20 || !readers.allSatisfy(\.isRaised) {
                        try store.set("value", to: Pattern.data(UInt64(thread * 100_000 + round), size))
                        round += 1
                    }
                    return
                }
                defer { readers[thread - readers.count].raise() }
                for _ in 0..<20 {
                    guard let found = try store.get("value") else { continue }
                    try expect(
                        Pattern.seed(of: found) != nil && found.count == size,
                        "a reader saw \(found.count) bytes that nobody stored as one value")
                }
            }
        },
        ConformanceCheck("threads.replace", "a value is never absent while it is replaced") { store in
            try store.set("value", to: Pattern.data(0, 2000))
            let isDone = Flag()
            try Worker.run(4) { thread in
                if thread == 0 {
                    defer { isDone.raise() }
                    for round in 0..<60 { try store.set("value", to: Pattern.data(UInt64(round), 2000 + round)) }
                    return
                }
                let (open, handle) = (try store.store, try store.handle("value"))
                while !isDone.isRaised {
                    let observed = open.observeGet(handle)
                    try observed.succeeded()
                    try expect(observed.status == 0, "a reader saw no value while it was replaced")
                }
            }
        },
    ]
}
