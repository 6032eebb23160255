internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

extension ConformanceCheck {
    static let syncDevices: [ConformanceCheck] = [
        ConformanceCheck(sync: "device.sees", "another device gets what was published") { transport in
            let other = try transport.open()
            let start = try transport.position(on: other)
            let records = transport.records("a", 0..<20)
            try transport.publish(Array(records[..<10]))
            try transport.expectArrival(of: Array(records[..<10]), since: start, on: other, "on another device")
            try transport.publish(Array(records[10...]))
            try transport.expectArrival(of: records, since: start, on: other, "on another device")
            try transport.expectArrival(of: records, since: nil, on: other, "on another device, from the beginning")
        },
        ConformanceCheck(sync: "device.both", "nothing is lost if two devices publish at the same time") { transport in
            let start = try transport.position()
            let devices = [try transport.transport, try transport.open()]
            let records = ["a", "b"].map { transport.records($0, 0..<60) }
            try Worker.run(2) { index in
                for part in stride(from: 0, to: 60, by: 3) {
                    try transport.publish(Array(records[index][part..<part + 3]), on: devices[index])
                }
                try transport.expectArrival(of: records[index], since: nil, on: devices[index], "a device's own")
            }
            let third = try transport.open()
            try transport.expectArrival(of: records[0] + records[1], since: start, on: third, "on a third device")
        },
    ]

    static let syncNotices: [ConformanceCheck] = [
        ConformanceCheck(sync: "notice.changed", "another device is notified of each publication") { transport in
            let other = try transport.open()
            let subscription = try transport.subscribe(on: other)
            for record in transport.records("a", 0..<4) {
                let count = subscription.notices
                try transport.publish([record])
                try expect(
                    subscription.hears(after: count, within: transport.patience),
                    "another device was not notified when record '\(record.name)' was published")
            }
        },
        ConformanceCheck(sync: "notice.fetch", "fetches after each notice give everything") { transport in
            let start = try transport.position()
            let subscription = try transport.subscribe()
            let records = transport.records("a", 0..<8)
            let publisher = try Worker {
                for record in records {
                    try transport.publish([record])
                    usleep(useconds_t.random(in: 0...3000))
                }
            }
            let clock = SuspendingClock()
            let limit = clock.now.advanced(by: transport.patience)
            var (position, found, seen) = (start, [SyncRecord](), 0)
            while SyncArrivals(of: records, found: found).missing != nil {
                guard clock.now < limit, subscription.hears(after: seen, within: limit - clock.now) else { break }
                seen = subscription.notices
                let part = try transport.fetch(since: position)
                (position, found) = (part.position, found + part.records)
            }
            try publisher.join()
            try SyncArrivals(of: records, found: found).check("in fetches after each notice")
        },
        ConformanceCheck(sync: "notice.end", "nobody is notified after the end of a subscription") { transport in
            let (ended, other) = (try transport.subscribe(), try transport.subscribe())
            let records = transport.records("a", 0..<2)
            try transport.publish([records[0]])
            try expect(
                ended.hears(after: 0, within: transport.patience)
                    && other.hears(after: 0, within: transport.patience),
                "two subscribers were not both notified")
            ended.end()
            let (count, others) = (ended.notices, other.notices)
            try transport.publish([records[1]])
            try expect(
                other.hears(after: others, within: transport.patience), "ending one subscription ended another")
            usleep(100_000)
            try expect(ended.notices == count, "a subscriber was notified after the end of its subscription")
        },
        ConformanceCheck(sync: "notice.running", "no notice is running when the end of a subscription returns") {
            transport in
            let publisher = try transport.publishing()
            defer { publisher.end() }
            for _ in 0..<10 {
                let running = RunningNotices()
                let subscription = try transport.subscribe {
                    running.count.add(1, ordering: .sequentiallyConsistent)
                    usleep(20_000)
                    running.count.subtract(1, ordering: .sequentiallyConsistent)
                }
                _ = subscription.hears(after: 0, within: transport.patience)
                subscription.end()
                let left = running.count.load(ordering: .sequentiallyConsistent)
                try expect(left == 0, "\(left) notices were running when the end of their subscription returned")
            }
        },
    ]

    static let syncThreads: [ConformanceCheck] = [
        ConformanceCheck(
            sync: "cancel.calls", "calls return soon after they are cancelled, and later ones work again"
        ) { transport in
            let start = try transport.position()
            let publisher = try transport.publishing()
            let fetcher = try transport.fetching()
            for _ in 0..<20 {
                try transport.transport.cancel()
                usleep(2000)
            }
            let (published, cancelled) = try publisher.result(transport.patience)
            try fetcher.check(transport.patience)
            let found = try transport.arrivals(of: published, since: start).filter { !cancelled.contains($0) }
            try SyncArrivals(of: published, found: found).check("published while calls were cancelled")
            let record = transport.records("later", 0..<1)
            try transport.publish(record)
            try transport.expectArrival(of: record, since: start, "published after calls were cancelled")
        },
        ConformanceCheck(sync: "threads.writers", "nothing is lost if many threads publish and fetch at once") {
            transport in
            let start = try transport.position()
            let records = (0..<8).map { transport.records("w\($0)", 0..<24) }
            try Worker.run(8) { index in
                for part in stride(from: 0, to: 24, by: 4) {
                    try transport.publish(Array(records[index][part..<part + 4]))
                    if index % 2 == 0 { _ = try transport.fetch(since: start) }
                }
            }
            try transport.expectArrival(of: records.flatMap(\.self), since: start, "eight threads")
        },
    ]
}

private final class RunningNotices: Sendable {
    let count = Atomic<Int>(0)
}
