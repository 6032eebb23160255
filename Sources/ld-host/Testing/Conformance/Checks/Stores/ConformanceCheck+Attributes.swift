internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let attributes: [ConformanceCheck] = [
        ConformanceCheck("attributes.kept", "the attributes given to set are returned", if: .attributes) { store in
            let given = ValueAttributes(
                contentType: "application/json", serializer: "json", versionTag: "3", appVersion: "1.2 (\u{e9})",
                owner: "Appearance\n\"x\"")
            try store.set("value", to: Data("value".utf8), attributes: given)
            try expectAttributes(of: "value", are: given, in: store)
            try store.set("plain", to: "value")
            try expectAttributes(of: "plain", are: ValueAttributes(), in: store)
            let partial = ValueAttributes(versionTag: "7")
            try store.set("partial", to: Data("value".utf8), attributes: partial)
            try expectAttributes(of: "partial", are: partial, in: store)
        },
        ConformanceCheck(
            "attributes.replaced", "a new value has its own attributes, and none of the old ones", if: .attributes
        ) {
            store in
            try store.set(
                "value", to: Data("1".utf8), attributes: ValueAttributes(contentType: "text/plain", owner: "first"))
            let second = ValueAttributes(versionTag: "2", owner: "second")
            try store.set("value", to: Data("2".utf8), attributes: second)
            try expectAttributes(of: "value", are: second, in: store)
            try store.set("value", to: "3")
            try expectAttributes(of: "value", are: ValueAttributes(), in: store)
        },
        ConformanceCheck("attributes.measured", "size and time come from the store", if: .attributes) { store in
            let before = Moment.now
            // The store must ignore the caller's size and time.
            try store.set(
                "value", to: Data("12345".utf8), attributes: ValueAttributes(owner: "x", size: 999, modified: 999))
            let after = Moment.now
            let found = try attributes(of: "value", in: store)
            try expect(found.size == 5, "the size of a value of 5 bytes is \(found.size.map { "\($0)" } ?? "missing")")
            guard let modified = found.modified else { return }
            // File systems and servers have their own clocks.
            let slack: Int64 = store.properties.latency == .network ? 3_600_000_000_000 : 2_000_000_000
            try expect(
                modified >= before - slack && modified <= after + slack,
                "the time is \(modified) ns since 1970; expected \(before) to \(after)")
        },
        ConformanceCheck("attributes.absent", "an absent value has no attributes", if: .attributes) { store in
            try expect(
                store.store.attributes(of: store.handle("never")) == nil, "a name never stored has attributes")
            try store.set("removed", to: Data("x".utf8), attributes: ValueAttributes(owner: "x"))
            try store.remove("removed")
            try expect(
                store.store.attributes(of: store.handle("removed")) == nil, "a removed value has attributes")
        },
    ]

    static func attributes(of name: String, in store: StoreUnderTest) throws -> ValueAttributes {
        guard let found = try store.store.attributes(of: store.handle(name)) else {
            throw ConformanceFailure("'\(name)' is stored and has no attributes")
        }
        return found
    }

    /// Compares the attributes that a caller can set.
    static func expectAttributes(of name: String, are given: ValueAttributes, in store: StoreUnderTest) throws {
        let found = try attributes(of: name, in: store)
        for (field, given, found) in [
            ("content type", given.contentType, found.contentType), ("serializer", given.serializer, found.serializer),
            ("version tag", given.versionTag, found.versionTag), ("app version", given.appVersion, found.appVersion),
            ("owner", given.owner, found.owner),
        ] {
            try expect(
                given.map { Array($0.utf8) } == found.map { Array($0.utf8) },
                "the \(field) of '\(name)': expected \(given ?? "none"), found \(found ?? "none")")
        }
    }
}
