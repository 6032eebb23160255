internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let streaming: [ConformanceCheck] = [
        ConformanceCheck("streaming.write", "a value written in pieces is returned whole", if: .streaming) { store in
            let size = Int(min(store.properties.largestValue ?? .max, (1 << 20) + 1))
            for (name, sizes) in [
                ("none", []), ("one", [5]), ("bytes", [1, 1, 1]), ("many", [4096, 1, 70_000, 3]), ("large", [size]),
                ("odd", [262_144, 1]),
            ] where sizes.reduce(0, +) <= size {
                let value = Pattern.data(UInt64(sizes.count), sizes.reduce(0, +))
                var start = 0
                let pieces = sizes.map { size in
                    defer { start += size }
                    return Data(value[start..<start + size])
                }
                let status = try store.store.write(store.handle(name), pieces: pieces)
                try expect(status == LD_OK, "the write returned \(status)")
                try store.expect(name, holds: value, "written in \(sizes.count) pieces")
            }
        },
        ConformanceCheck("streaming.read", "the pieces that are read make up the value", if: .streaming) { store in
            let largest = store.properties.largestValue ?? .max
            for size in [1, 4096, 65_537, 200_001, 1 << 20] where size <= largest {
                let value = Pattern.data(UInt64(size), size)
                try store.set("value", to: value)
                let observed = try store.store.observeRead(store.handle("value"))
                try observed.succeeded()
                let found = observed.pieces.reduce(into: Data()) { $0.append($1) }
                try expect(
                    found == value,
                    "a value of \(size) bytes came in \(observed.pieces.count) pieces that do not make up the value")
            }
        },
        ConformanceCheck("streaming.absent", "reading distinguishes an empty value from an absent one", if: .streaming)
        { store in
            let absent = try store.store.observeRead(store.handle("never"))
            try expect(try absent.succeeded() == LD_ABSENT, "reading an absent value returned \(absent.status)")
            try expect(absent.pieces.isEmpty, "reading an absent value gave \(absent.pieces.count) pieces")
            _ = try store.store.write(store.handle("empty"), pieces: [])
            let empty = try store.store.observeRead(store.handle("empty"))
            try expect(try empty.succeeded() == LD_OK, "reading an empty value returned \(empty.status)")
            try expect(empty.pieces.allSatisfy(\.isEmpty), "reading an empty value gave bytes")
        },
        ConformanceCheck(
            "streaming.attributes", "attributes are kept with a value in pieces", if: .streaming, .attributes
        ) {
            store in
            let given = ValueAttributes(contentType: "text/plain", owner: "streamer")
            _ = try store.store.write(store.handle("value"), pieces: [Data("abc".utf8)], attributes: given)
            try expectAttributes(of: "value", are: given, in: store)
            let size = try attributes(of: "value", in: store).size
            try expect(size == 3, "the size of a value of 3 bytes is \(size.map { "\($0)" } ?? "missing")")
        },
        ConformanceCheck(
            "streaming.pieces", "a large value is not read as one piece", if: .streaming, .outsideMemory,
            .room(for: 8 << 20)
        ) { store in
            let size = 8 << 20
            _ = try store.store.write(store.handle("value"), pieces: [Pattern.data(1, size)])
            var largest = 0
            var total = 0
            _ = try store.store.read(store.handle("value")) { piece in
                largest = max(largest, piece.count)
                total += piece.count
                return true
            }
            try expect(total == size, "a value of \(size) bytes was read as \(total)")
            try expect(largest <= size / 4, "a value of \(size) bytes came in a piece of \(largest)")
        },
        ConformanceCheck("streaming.stop", "reading ends when the caller stops it", if: .streaming) { store in
            try store.set("value", to: Pattern.data(1, Int(min(store.properties.largestValue ?? .max, 1 << 20))))
            let observed = try store.store.observeRead(store.handle("value")) { _ in false }
            try expect(
                observed.pieces.count == 1,
                "the caller stopped after 1 piece, and got \(observed.pieces.count)")
            try expect(
                observed.status == LD_STOPPED && observed.reports.isEmpty,
                "a read that the caller stopped returned \(observed.status) with \(observed.reports.count) reports; "
                    + "expected 2 with none")
        },
        ConformanceCheck("streaming.given-up", "the old value stays if the source gives up", if: .streaming) { store in
            let old = Data("old".utf8)
            try store.set("value", to: old)
            for name in ["value", "never"] {
                let pieces = [Pattern.data(1, 300_000), Pattern.data(2, 300_000)]
                let status = try store.store.write(store.handle(name), pieces: pieces) { $0 < 2 }
                try expect(status == LD_STOPPED, "a write whose source gave up returned \(status); expected 2")
                try store.expect(name, holds: name == "value" ? old : nil, "after the source of a new value gave up")
            }
        },
        ConformanceCheck("streaming.unseen", "nothing of a value is visible before it is complete", if: .streaming) {
            store in
            let old = Data("old".utf8)
            try store.set("value", to: old)
            let pieces = (0..<3).map { Pattern.data(UInt64($0), 300_000) }
            let status = try store.store.write(store.handle("value"), pieces: pieces) { index in
                guard index > 0 else { return true }
                let isDone = try store.elsewhere {
                    try store.expect("value", holds: old, "while a new value is written")
                }
                try expect(isDone, "while a value is written, another thread cannot read the old one")
                return true
            }
            try expect(status == LD_OK, "the write returned \(status)")
            try store.expect("value", holds: pieces.reduce(into: Data()) { $0.append($1) })
        },
        ConformanceCheck(
            "streaming.one-value", "all pieces belong to one value, even if it is replaced meanwhile", if: .streaming
        ) { store in
            let size = Int(min(store.properties.largestValue ?? .max, 1 << 20))
            let (old, new) = (Pattern.data(1, size), Pattern.data(2, size))
            try store.set("value", to: old)
            var isFirst = true
            let observed = try store.store.observeRead(store.handle("value")) { _ in
                guard isFirst else { return true }
                isFirst = false
                let isDone = try store.elsewhere { try store.set("value", to: new) }
                try expect(isDone, "while a value is read, another thread cannot replace it")
                return true
            }
            try observed.succeeded()
            let found = observed.pieces.reduce(into: Data()) { $0.append($1) }
            try expect(found == old || found == new, "the pieces belong to two values")
            try store.expect("value", holds: new, "after it replaced one that was being read")
        },
    ]
}
