internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let checks: [ConformanceCheck] = [
        ConformanceCheck("check.sound", "a check finds no damage in unchanged values", if: .check) { store in
            try expect(findings(of: store), are: [], "what a check finds in a store")
            try change(store)
            try expect(findings(of: store), are: [], "what a check finds after values were set, replaced and removed")
        },
        ConformanceCheck("check.harmless", "a check changes nothing", if: .check) { store in
            try change(store)
            _ = try findings(of: store)
            try store.expect("small", holds: Pattern.data(2, 100), "after a check")
            try store.expect("large", holds: Pattern.data(3, largeSize(store)), "after a check")
            try store.expect("removed", holds: nil, "after a check")
        },
    ]

    private static func largeSize(_ store: StoreUnderTest) -> Int {
        Int(min(store.properties.largestValue ?? .max, 1 << 20))
    }

    /// Sets, replaces and removes values, small ones and large ones.
    private static func change(_ store: StoreUnderTest) throws {
        let large = largeSize(store)
        try store.set("small", to: Pattern.data(1, large))
        try store.set("small", to: Pattern.data(2, 100))
        try store.set("large", to: Pattern.data(1, 100))
        try store.set("large", to: Pattern.data(3, large))
        try store.set("removed", to: Pattern.data(4, large))
        try store.remove("removed")
    }

    private static func findings(of store: StoreUnderTest) throws -> [String] {
        var findings: [String] = []
        try store.store.check {
            findings.append($0)
            return findings.count < 100
        }
        return findings
    }
}
