internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let names: [ConformanceCheck] = [
        ConformanceCheck("name.any", "any UTF-8 without NUL is a name") { store in
            for (index, name) in strangeNames.enumerated() {
                let value = Pattern.data(UInt64(index), 32)
                do {
                    try store.set(name, to: value)
                    try store.expect(name, holds: value)
                    try expect(store.remove(name), "it cannot be removed")
                } catch { throw ConformanceFailure("the name \(name.debugDescription): \(error)") }
            }
        },
        ConformanceCheck("name.long", "names have up to 1,024 bytes, and every byte counts") { store in
            let names = [
                String(repeating: "n", count: 255), String(repeating: "n", count: 256),
                String(repeating: "n", count: 1023), String(repeating: "n", count: 1024),
                String(repeating: "n", count: 1023) + "m", String(repeating: "\u{1f5dd}", count: 256),
                String(repeating: "\u{1f5dd}", count: 255) + "\u{1f5dc}", String(repeating: "/", count: 1024),
            ]
            try keepApart(names.map { StorageAddress(store.place, name: $0) }, in: store)
        },
        ConformanceCheck("name.apart", "names are equal only if their bytes are") { store in
            try keepApart(similarNames.map { StorageAddress(store.place, name: $0) }, in: store)
        },
        ConformanceCheck("place.scopes", "the same name in two scopes has two values") { store in
            let scopes = ["", "a", "A", "a/b", "a%2Fb", "a.b", "..", " ", "\u{e9}", "e\u{301}"]
            var addresses = scopes.map { StorageAddress(store.place($0), name: "name") }
            // The border between scope and name counts too.
            addresses += [
                StorageAddress(store.place("x"), name: "y/z"), StorageAddress(store.place("x/y"), name: "z"),
                StorageAddress(store.place("x\u{1f}y"), name: "z"), StorageAddress(store.place("x"), name: "y\u{1f}z"),
            ]
            try keepApart(addresses, in: store)
        },
        ConformanceCheck("place.domains", "the same name in two domains has two values") { store in
            let domains = ["conformance", "Conformance", "conformance.x", "conformance_x", "conformance-x"]
            try keepApart(domains.map { StorageAddress(store.place("", domain: $0), name: "name") }, in: store)
        },
    ]

    /// Stores a value under each address, reads them all, removes every second one, and reads them all again.
    private static func keepApart(_ addresses: [StorageAddress], in store: StoreUnderTest) throws {
        func value(_ index: Int) -> Data { Pattern.data(UInt64(index), 64) }
        let open = try store.store
        for (index, address) in addresses.enumerated() {
            try open.set(store.handle(address), to: value(index), attributes: nil)
        }
        func look(_ when: String, _ isThere: (Int) -> Bool) throws {
            for (index, address) in addresses.enumerated() {
                let found = try open.get(store.handle(address))
                let expected = isThere(index) ? value(index) : nil
                guard found != expected else { continue }
                let other = found.flatMap { Pattern.seed(of: $0) }.map { addresses[Int($0)].debugText }
                throw ConformanceFailure(
                    "\(address.debugText) \(when): expected \(expected == nil ? "none" : "its own value"), "
                        + "found \(other.map { "the value of \($0)" } ?? found.shown)")
            }
        }
        try look("after all were set") { _ in true }
        for index in addresses.indices where index % 2 == 0 {
            try expect(
                open.remove(store.handle(addresses[index])), "\(addresses[index].debugText) cannot be removed")
        }
        try look("after every second one was removed") { $0 % 2 == 1 }
    }

    private static let strangeNames = [
        ".", "..", "...", "/", "//", "/etc/passwd", "../../escape", "a/", "/a", "~", "~root", "-", "--", "-rf",
        ".hidden", " ", "  leading", "trailing  ", "trailing.", "a\nb", "\n", "\t", "a\r\nb", "\u{1}", "\u{7f}", "\\",
        "a\\b", "\"", "'", "`id`", "$(id)", "${data}", "*", "?", "[a]", "|", ">", "&", ";", "#", "%", "%2F", "%00",
        "%s%n", "CON", "NUL.txt", "a:b", "key=value", "\u{e9}", "e\u{301}", "\u{df}", "\u{130}", "\u{5d0}\u{5d1}",
        "\u{202e}abc", "\u{feff}", "\u{200b}", "\u{fffd}", "\u{10ffff}", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{65e5}\u{672c}\u{8a9e}", "__proto__", "null", "0", "'; drop table x; --", "{}", "[]", "<a>", "a,b", "tmp",
    ]

    private static let similarNames = [
        "name", "Name", "NAME", "name ", " name", "name.", ".name", "./name", "name/", "name/.", "name/x",
        "name/../name",
        "name%20", "name%2E", "na", "names", "name_", "name-", "\u{e9}", "e\u{301}", "e", "\u{212b}", "\u{c5}",
        "A\u{30a}", "\u{fb01}", "fi", "stra\u{df}e", "strasse", "\u{130}", "i\u{307}", "i", "I", "\u{131}", "%", "%25",
        "%2525", "a%2Fb", "a%2fb", "a/b", "a//b", "/a/b", "1", "01", "1.0", "\u{ff11}", "\u{1f600}",
        "\u{1f600}\u{fe0f}",
    ]
}

extension StorageAddress {
    fileprivate var debugText: String {
        name.utf8.count > 80 ? "the name of \(name.utf8.count) bytes" : "\(description.debugDescription)"
    }
}
