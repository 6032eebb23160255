internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let verification: [ConformanceCheck] = [
        ConformanceCheck(
            "verify.state", "a value that was set verifies, and does not count as edited", if: .verification
        ) { store in
            for (name, count) in [("short", 1), ("small", 100), ("large", 300_000)] {
                try store.set(name, to: Pattern.data(2, count))
                let state = try store.store.verify(store.handle(name))
                try expect(
                    state == .intact || state == .unrecorded, "'\(name)' was set, and verifies as \(shown(state))")
                try store.expect(name, holds: Pattern.data(2, count), "after it was verified")
            }
        },
        ConformanceCheck("verify.absent", "an absent value has nothing to verify", if: .verification) { store in
            try store.set("removed", to: "value")
            try store.remove("removed")
            for name in ["removed", "never"] {
                let state = try store.store.verify(store.handle(name))
                try expect(state == nil, "'\(name)' is absent, and verifies as \(shown(state))")
            }
        },
    ]

    static let wiping: [ConformanceCheck] = [
        ConformanceCheck(
            "wipe.gone", "after a wipe, no file has any part of a removed or replaced value", if: .wiping
        ) { store in
            let secret = (0..<16).map { _ in String(UInt8.random(in: 16 ... .max), radix: 16) }.joined()
            for (name, count) in [("short", 1), ("medium", 100), ("long", 20_000)] {
                let value = Data(String(repeating: secret, count: count).utf8)
                try store.set("removed \(name)", to: value)
                try store.set("replaced \(name)", to: value)
            }
            try store.set("kept", to: "value")
            for name in ["short", "medium", "long"] {
                try store.remove("removed \(name)")
                try store.set("replaced \(name)", to: "other")
            }
            try store.store.wipe(store.place)
            let files = try store.files(holding: Data(secret.utf8))
            try expect(files.isEmpty, "after a wipe, parts of removed values are in \(files.joined(separator: ", "))")
        },
        ConformanceCheck("wipe.harmless", "a wipe leaves every value as it is", if: .wiping) { store in
            try store.set("small", to: Pattern.data(1, 100))
            try store.set("large", to: Pattern.data(2, 300_000))
            try store.set("removed", to: Pattern.data(3, 300_000))
            try store.remove("removed")
            try store.store.wipe(store.place)
            try store.expect("small", holds: Pattern.data(1, 100), "after a wipe")
            try store.expect("large", holds: Pattern.data(2, 300_000), "after a wipe")
            try store.expect("removed", holds: nil, "after a wipe")
        },
    ]

    private static func shown(_ state: ValueState?) -> String { state.map { "\($0)" } ?? "absent" }
}

extension StoreUnderTest {
    /// The files below the check's folder that contain some bytes.
    fileprivate func files(holding bytes: Data) throws -> [String] {
        let manager = FileManager.default
        return try manager.subpathsOfDirectory(atPath: folder).filter { path in
            guard let content = manager.contents(atPath: "\(folder)/\(path)") else { return false }
            return content.firstRange(of: bytes) != nil
        }
    }
}
