internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let syncOpening = "lifecycle.open"

    static let syncLifecycle: [ConformanceCheck] = [
        ConformanceCheck(sync: syncOpening, "the transport opens with its options") { _ in },
        ConformanceCheck(sync: "lifecycle.options", "every option has a unique name and a line of help") { transport in
            try transport.subject.expectTidyOptions()
        },
        ConformanceCheck(
            sync: "lifecycle.again", "a transport can be open twice, and closing one leaves the other open"
        ) { transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<3)
            let second = try transport.open()
            try transport.publish(records)
            transport.close(second)
            try transport.expectArrival(of: records, since: start, "after another one was closed")
        },
        ConformanceCheck(
            sync: "lifecycle.reopen", "a transport that is opened again has every record, and knows its positions"
        ) { transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<6)
            try transport.publish(Array(records[..<3]))
            let middle = try transport.position()
            try transport.publish(Array(records[3...]))
            transport.close(try transport.transport)
            try transport.open()
            try transport.expectArrival(of: records, since: start, "since a position before it was opened again")
            try transport.expectArrival(of: Array(records[3...]), since: middle, "since another such position")
        },
    ]

    static let syncRecords: [ConformanceCheck] = [
        ConformanceCheck(
            sync: "record.bytes", "contents arrive as they were published, also with a fetch from the beginning"
        ) {
            transport in
            let start = try transport.position()
            let contents = [
                Data(0...255), Data("line\n".utf8), Data(repeating: 0, count: 300), Data("\r\n\0".utf8),
                Pattern.data(1, 70_000),
            ]
            let records = contents.enumerated().map {
                SyncRecord(writer: transport.writer("a"), name: "c\($0.offset)", content: $0.element)
            }
            try transport.publish(records)
            try transport.expectArrival(of: records, since: start, "since a position")
            try transport.expectArrival(of: records, since: nil, "from the beginning")
        },
        ConformanceCheck(sync: "record.empty", "an empty record arrives") { transport in
            let start = try transport.position()
            let record = SyncRecord(writer: transport.writer("a"), name: "empty", content: Data())
            try transport.publish([record])
            try transport.expectArrival(of: [record], since: start, "empty")
        },
        ConformanceCheck(sync: "record.largest", "a record of the largest size arrives") { transport in
            let start = try transport.position()
            let size = min(try transport.transport.largestRecord, Self.mostCreated)
            let records = transport.records("a", 0..<2, size: size)
            try transport.publish(records)
            try transport.expectArrival(of: records, since: start, "\(size) bytes")
        },
        ConformanceCheck(sync: "record.too-large", "a record above the largest size is refused, and never arrives") {
            transport in
            let largest = try transport.transport.largestRecord
            guard largest < Self.mostCreated else { return }
            let start = try transport.position()
            let record = SyncRecord(
                writer: transport.writer("a"), name: "large", content: Pattern.data(1, largest + 1))
            let table = try transport.transport.table
            let refusal = Observation { _, error in
                record.withBoundary { pointer in
                    var list: UnsafePointer<ld_sync_record>? = pointer
                    return table.publish(table.`self`, &list, 1, error)
                }
            }
            try expect(
                refusal.status == LD_FAILED && refusal.reports.count == 1,
                "publish of \(largest + 1) bytes returned \(refusal.status) with \(refusal.reports.count) reports; "
                    + "the largest record has \(largest) bytes")
            let found = try transport.fetch(since: start).records
            try expect(
                found.isEmpty, "a part of a record that was refused arrived: \(found.first?.content.shown ?? "")")
        },
        ConformanceCheck(sync: "record.many", "1,024 records are published at once") { transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<SyncRecord.mostInOneCall)
            try transport.publish(records)
            try transport.expectArrival(of: records, since: start, "1,024 records")
        },
        ConformanceCheck(sync: "record.names", "writers and names have 1 to 64 letters, digits and hyphens") {
            transport in
            let start = try transport.position()
            let names = ["a", "0", "-", "--", "-rf", "0123456789-abcdefghijklmnopqrstuvwxyz", "con", "nul-"]
            let long = String(repeating: "z", count: SyncRecord.longestName)
            let base = transport.writer("")
            for writer in [base, base + String(repeating: "-", count: SyncRecord.longestName - base.utf8.count)] {
                let records = (names + [long, String(repeating: "-", count: SyncRecord.longestName)]).map {
                    SyncRecord(writer: writer, name: $0, content: Data($0.utf8))
                }
                try transport.publish(records)
                try transport.expectArrival(of: records, since: start, "a writer of \(writer.utf8.count) bytes")
            }
        },
        ConformanceCheck(
            sync: "record.apart", "records of two writers never mix, even if their names join to the same text"
        ) { transport in
            let start = try transport.position()
            let records = [("x", "y-z"), ("x-y", "z"), ("x", "y"), ("x-", "y")].map {
                SyncRecord(writer: transport.writer($0.0), name: $0.1, content: Data("\($0.0) \($0.1)".utf8))
            }
            for record in records { try transport.publish([record]) }
            try transport.expectArrival(of: records, since: start, "names that are alike")
            try transport.expectArrival(of: records, since: nil, "from the beginning")
        },
        ConformanceCheck(sync: "record.again", "a record can be published again") { transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<2)
            try transport.publish(records)
            try transport.publish([records[1]])
            try transport.publish([records[1]])
            try transport.expectArrival(of: records, since: start, "after the last was published three times")
        },
    ]

    /// The largest record that a check creates, in bytes.
    private static let mostCreated = 64 << 20
}

extension ConformanceCheck {
    static let syncOrder: [ConformanceCheck] = [
        ConformanceCheck(sync: "order.writer", "the records of one writer arrive in the order of their publication") {
            transport in
            let start = try transport.position()
            let records = transport.records("a", 0..<60)
            for part in [0..<1, 1..<30, 30..<31, 31..<60] { try transport.publish(Array(records[part])) }
            try transport.expectArrival(of: records, since: start, "60 records in four calls")
        },
        ConformanceCheck(
            sync: "order.newest", "the newest record of a name arrives, in its place, however often it was replaced"
        ) { transport in
            let start = try transport.position()
            let writer = transport.writer("a")
            let records = (0..<40).map {
                SyncRecord(writer: writer, name: "n\($0 * 7 % 5)", content: Pattern.data(UInt64($0), 64))
            }
            for part in [0..<3, 3..<20, 20..<21, 21..<40] { try transport.publish(Array(records[part])) }
            try transport.expectArrival(of: records, since: start, "40 records of 5 names")
        },
        ConformanceCheck(sync: "order.whole", "a fetch returns whole records in order while records are replaced") {
            transport in
            let start = try transport.position()
            let records = (0..<120).map {
                SyncRecord(
                    writer: transport.writer("a"), name: "n\($0 % 3)", content: Pattern.data(UInt64($0), 9000 + $0))
            }
            let isOver = Flag()
            let publisher = try Worker {
                defer { isOver.raise() }
                for record in records { try transport.publish([record]) }
            }
            var (position, found) = (start, [SyncRecord]())
            repeat {
                let isLast = isOver.isRaised
                let part = try transport.fetch(since: position)
                (position, found) = (part.position, found + part.records)
                if isLast { break }
            } while true
            try publisher.join()
            let damaged = found.first { Pattern.seed(of: $0.content) == nil }
            try expect(damaged == nil, "a record that is not whole arrived: \(damaged?.content.shown ?? "")")
            try SyncArrivals(of: records, found: found + transport.arrivals(of: [records[119]], since: position))
                .check("while they were published")
        },
    ]
}
