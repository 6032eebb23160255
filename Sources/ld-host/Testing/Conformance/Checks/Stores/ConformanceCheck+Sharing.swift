internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let sharing: [ConformanceCheck] = [
        ConformanceCheck("shared.sees", "a process sees what another process sets or removes", if: .shared, .peer) {
            store in
            for round in 1...2 {
                let (mine, other) = (UInt64(round), UInt64(round + 10))
                try store.set("mine", to: Pattern.data(mine, 1000))
                try store.set("removed", to: "here")
                let answers = try store.peer([
                    .read(name: "mine"), .set(name: "other", seed: other, size: 1000), .remove(name: "removed"),
                ])
                try expect(answers, are: ["seed \(mine)"], "what another process reads, set here just before")
                try store.expect("other", holds: Pattern.data(other, 1000), "set by another process")
                try store.expect("removed", holds: nil, "removed by another process")
            }
            try store.remove("mine")
            try expect(
                store.peer([.read(name: "mine")]), are: ["none"], "what another process reads, removed here just before"
            )
        },
        ConformanceCheck(
            "shared.whole", "a reader sees one whole value while another process replaces it", if: .shared, .peer
        ) { store in
            let size = Int(min(store.properties.largestValue ?? .max, 50_000))
            try store.set("value", to: Pattern.data(0, size))
            let peer = try Peer(store, [.replace(name: "value", size: size, times: 150)])
            defer { try? peer.join() }
            while !peer.isDone {
                guard let found = try store.get("value") else {
                    throw ConformanceFailure("a reader saw no value while another process replaced it")
                }
                try expect(
                    found.count == size && Pattern.seed(of: found) != nil,
                    "a reader saw \(found.count) bytes that nobody stored as one value")
            }
            try peer.join()
        },
        ConformanceCheck("shared.writers", "two processes that write at the same time lose nothing", if: .shared, .peer)
        {
            store in
            let count = 100
            let peer = try Peer(store, [.fill(prefix: "other", size: 500, count: count)])
            defer { try? peer.join() }
            var written = 0
            while !peer.isDone || written < count {
                try store.set("mine\(written % count)", to: Pattern.data(UInt64(written % count), 500))
                written += 1
            }
            try peer.join()
            for index in 0..<count {
                try store.expect("mine\(index)", holds: Pattern.data(UInt64(index), 500), "set here")
                try store.expect("other\(index)", holds: Pattern.data(UInt64(index), 500), "set by another process")
            }
        },
        ConformanceCheck(
            "shared.watch", "a watch reports changes by another process", if: .shared, .watch, .peer
        ) { store in
            let watch = try store.watch()
            _ = try store.peer([.set(name: "value", seed: 1, size: 100)])
            try expect(
                watch.hears("value", within: store.patience), "the watch did not report a set by another process")
            watch.forget()
            _ = try store.peer([.remove(name: "value")])
            try expect(
                watch.hears("value", within: store.patience), "the watch did not report a remove by another process")
        },
    ]
}

/// Another process that runs beside the check.
private struct Peer {
    private let done = Flag()
    private let worker: Worker

    init(_ store: StoreUnderTest, _ steps: [PeerStep]) throws {
        let done = done
        worker = try Worker {
            defer { done.raise() }
            _ = try store.peer(steps)
        }
    }

    var isDone: Bool { done.isRaised }

    func join() throws { try worker.join() }
}
