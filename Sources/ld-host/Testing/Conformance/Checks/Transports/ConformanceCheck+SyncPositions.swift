internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let syncPositions: [ConformanceCheck] = [
        ConformanceCheck(sync: "position.resume", "a fetch since a position passes what was published after it") {
            transport in
            let records = transport.records("a", 0..<9)
            var position = try transport.position()
            for part in [0..<1, 1..<4, 4..<9] {
                // Also where there was nothing new.
                position = try transport.fetch(since: position).position
                try transport.publish(Array(records[part]))
                let found = try transport.arrivals(of: Array(records[part]), since: position)
                let old = found.first { !records[part].contains($0) }
                try expect(old == nil, "record '\(old?.name ?? "")', from before the position, arrived")
                try SyncArrivals(of: Array(records[part]), found: found).check("since a position")
            }
        },
        ConformanceCheck(sync: "position.stop", "a fetch that was stopped can be continued from its position") {
            transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<50)
            try transport.publish(records)
            try transport.expectArrival(of: records, since: start, "in one fetch")
            var (position, found) = (start, [SyncRecord]())
            for count in [2, 3, 7, 2, 11] {
                let part = try transport.fetch(since: position, atMost: count)
                (position, found) = (part.position, found + part.records)
            }
            try SyncArrivals(of: records, found: found + transport.fetch(since: position).records)
                .check("in six fetches")
        },
        ConformanceCheck(sync: "position.steps", "fetches that stop after one record each reach the end") { transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<12)
            try transport.publish(records)
            try transport.expectArrival(of: records, since: start, "in one fetch")
            var (position, found) = (start, [SyncRecord]())
            // Others may publish, too, but not that many.
            for _ in 0..<1000 {
                let part = try transport.fetch(since: position, atMost: 1)
                (position, found) = (part.position, found + part.records)
                if part.records.isEmpty, SyncArrivals(of: records, found: found).missing == nil { break }
                if found.count > 4 * records.count { break }
            }
            try expect(
                found.count <= 4 * records.count,
                "\(found.count) fetches of one record each did not come to the end of \(records.count)")
            try SyncArrivals(of: records, found: found).check("in fetches of one record each")
        },
        ConformanceCheck(sync: "position.old", "an old position stays valid, however much was published after it") {
            transport in
            let start = try transport.position()
            try transport.publish(transport.records("a", 0..<20))
            let middle = try transport.position()
            var newest: [SyncRecord] = []
            for round in 1...4 {
                newest = (0..<500).map {
                    SyncRecord(
                        writer: transport.writer("a"), name: "n\($0)",
                        content: Pattern.data(UInt64(round * 1000 + $0), 50))
                }
                try transport.publish(newest)
            }
            for (position, what) in [(start, "the first"), (middle, "a later")] {
                let found = try transport.fetch(since: position).records
                if let missing = SyncArrivals(of: newest, found: found).missing {
                    throw ConformanceFailure("since \(what) position, after 2,000 records: \(missing)")
                }
            }
        },
        ConformanceCheck(
            sync: "position.garbage", "a fetch from invalid bytes for a position works or fails with positionLost"
        ) { transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<10)
            try transport.publish(records)
            let good = try transport.position()
            var changed = good
            changed[changed.startIndex] ^= 0xff
            let garbage = [
                Data([0]), Data(repeating: 0xff, count: 8), Data("no position".utf8), Data(good.dropLast()), changed,
                good + Data([0]), good + good, Data(repeating: 0x39, count: 20),
                Data(repeating: 0x7b, count: SyncRecord.longestPosition), Pattern.data(7, 100),
            ]
            for position in garbage {
                do { _ = try transport.fetch(since: position) } catch let error as StorageError {
                    try expect(
                        error.code == .positionLost,
                        "a fetch from \(position.shown), which is not a position, failed with \(error.code.name): "
                            + "\(error)"
                    )
                }
            }
            try transport.expectArrival(of: records, since: start, "after fetches from invalid positions")
        },
    ]

    static let syncRemovals: [ConformanceCheck] = [
        ConformanceCheck(sync: "remove.others", "removing affects only the named records of the writer") {
            transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<12)
            let others = transport.records("b", 0..<3)
            try transport.publish(records)
            try transport.publish(others)
            try transport.transport.remove(["n1", "n5"], of: transport.writer("a"))
            let left = records.filter { $0.name != "n1" && $0.name != "n5" }
            // A removed record may still arrive.
            let found = try transport.arrivals(of: left + others, since: start)
                .filter { $0.writer != records[0].writer || left.contains($0) }
            try SyncArrivals(of: left + others, found: found).check("after two others were removed")
        },
        ConformanceCheck(sync: "remove.absent", "removing absent records succeeds") { transport in
            let writer = transport.writer("a")
            try transport.transport.remove(["never-published"], of: writer)
            try transport.publish(transport.records("a", 0..<1))
            try transport.transport.remove(["n0", "n1"], of: writer)
            try transport.transport.remove(["n0"], of: writer)
        },
        ConformanceCheck(sync: "remove.again", "a removed record can be published again") { transport in
            let records = transport.records("a", 0..<3)
            try transport.publish(records)
            try transport.transport.remove(records.map(\.name), of: transport.writer("a"))
            let position = try transport.position()
            try transport.publish(records)
            try transport.expectArrival(of: records, since: position, "after they were removed")
        },
    ]
}
