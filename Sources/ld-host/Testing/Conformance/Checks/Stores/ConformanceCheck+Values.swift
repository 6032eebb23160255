internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let values: [ConformanceCheck] = [
        ConformanceCheck("value.empty", "an empty value is stored, and is not absent") { store in
            try store.set("empty", to: Data())
            try store.expect("empty", holds: Data())
            try expect(store.store.exists(store.handle("empty")), "exists returns false for an empty value")
            try store.set("emptied", to: "something")
            try store.set("emptied", to: Data())
            try store.expect("emptied", holds: Data(), "after it replaced another value")
        },
        ConformanceCheck("value.bytes", "every byte is returned unchanged") { store in
            let ascending = Data((0...255).map { UInt8($0) })
            for (name, value) in [
                ("ascending", ascending), ("descending", Data(ascending.reversed())), ("nul", Data([0])),
                ("line-feed", Data([10])), ("high", Data([255])), ("crlf", Data([13, 10, 13, 10])),
                ("not-utf8", Data([0xc3, 0x28, 0xa0, 0xff])), ("zeros", Data(count: 100)),
            ] {
                try store.set(name, to: value)
                try store.expect(name, holds: value)
            }
        },
        ConformanceCheck("value.sizes", "values from one byte to 1 MiB are returned whole") { store in
            let largest = store.properties.largestValue ?? .max
            for power in [0, 8, 12, 14, 16, 20] {
                for size in [(1 << power) - 1, 1 << power, (1 << power) + 1] where size > 0 && size <= largest {
                    let value = Pattern.data(UInt64(size), size)
                    try store.set("size", to: value)
                    try store.expect("size", holds: value)
                }
            }
        },
        ConformanceCheck("value.large", "a value of 16 MiB, or of the largest size if that is less, is returned whole")
        {
            store in
            let size = Int(min(store.properties.largestValue ?? .max, 16 << 20))
            let value = Pattern.data(16, size)
            try store.set("large", to: value)
            try store.expect("large", holds: value)
        },
        ConformanceCheck(
            "value.too-large", "a value above the limit is refused as too large, and the old one stays", if: .limit
        ) { store in
            guard let largest = store.properties.largestValue else { return }
            let old = Data("old".utf8)
            try store.set("value", to: old)
            // Bypasses the host's own refusal: callers other than the host exist.
            let observed = try Pattern.data(1, Int(largest) + 1).withUnsafeBytes {
                try store.store.observeSet(store.handle("value"), to: $0)
            }
            try expect(observed.status < 0, "a value of \(largest + 1) bytes was accepted; the limit is \(largest)")
            let code = observed.reports.first?.code.rawValue ?? 0
            try expect(
                code == StorageError.Code.valueTooLarge.rawValue,
                "a value above the limit: expected an error of code 33 (value too large), found code \(code)")
            try store.expect("value", holds: old, "after a refused set")
        },
        ConformanceCheck("value.borrowed", "a value is copied before set returns") { store in
            let value = Pattern.data(3, 4099)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: value.count, alignment: 16)
            defer {
                // Replaces the value before freeing the buffer, in case the store kept the pointer.
                try? store.set("lent", to: "other")
                buffer.deallocate()
            }
            buffer.copyBytes(from: value)
            try store.store.observeSet(store.handle("lent"), to: UnsafeRawBufferPointer(buffer)).succeeded()
            buffer.initializeMemory(as: UInt8.self, repeating: 0xee)
            try store.expect("lent", holds: value, "after the caller reused its buffer")
        },
        ConformanceCheck("value.secret", "no value appears in an error or a log") { store in
            let marks = ["9b1dc3a7-secret-mark", "OWIxZGMzYTctc2VjcmV0LW1hcms"]
            let value = Data((marks[0] + marks[1]).utf8)
            let handle = try store.handle("secret")
            try store.set("secret", to: value)
            try store.set("secret", to: value, attributes: ValueAttributes(owner: "someone"))
            _ = try store.get("secret")
            var reports: [StorageError] = []
            if let largest = store.properties.largestValue, largest < 64 << 20 {
                var large = Data(count: Int(largest) + 1)
                large.replaceSubrange(0..<min(value.count, large.count), with: value)
                reports += try large.withUnsafeBytes { try store.store.observeSet(handle, to: $0) }.reports
            }
            try store.remove("secret")
            let texts = store.subject.log.messages + reports.flatMap { [$0.message, $0.hint] }
            for text in texts where marks.contains(where: { text.contains($0) }) {
                throw ConformanceFailure("a log message or an error contains the stored value")
            }
        },
    ]
}
