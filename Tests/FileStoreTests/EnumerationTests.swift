@testable import FileStore
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@Suite("Enumeration")
struct EnumerationTests {
    private let fixture: StoreFixture
    private let names = ["B", "a", "ab", "abc", "b", "\u{e9}", "e\u{301}", "~", "zz", "a/b", "a.b"]

    init() throws {
        fixture = try StoreFixture()
        for name in names { try fixture.set(name, []) }
    }

    private func expected(_ isIncluded: ([UInt8]) -> Bool) -> [[UInt8]] {
        names.map { Array($0.utf8) }.filter(isIncluded).sorted { $0.lexicographicallyPrecedes($1) }
    }

    @Test("is ordered by bytes")
    func order() throws {
        #expect(try fixture.names() == expected { _ in true })
        #expect(try fixture.names().first == Array("B".utf8))
    }

    @Test("lists only names with a prefix, compared as bytes", arguments: ["a", "ab", "e", "\u{e9}", "none", ""])
    func prefix(prefix: String) throws {
        #expect(try fixture.names(prefix: prefix) == expected { $0.starts(with: prefix.utf8) })
    }

    @Test("goes through all names page by page", arguments: [1, 2, 3, 5, 11, 100, .max])
    func pages(limit: Int) throws {
        var all: [[UInt8]] = []
        while true {
            let after = all.last.map { String(decoding: $0, as: UTF8.self) }
            let page = try fixture.names(after: after, limit: limit)
            #expect(page.count <= limit)
            all += page
            if page.count < limit { break }
        }
        #expect(all == expected { _ in true })
        #expect(try fixture.names(limit: 0).isEmpty)
    }

    @Test("keeps the smallest names of many more than the limit")
    func manyNames() throws {
        let place = fixture.folder.path + "/fileSystem@documents/"
        for index in 0..<2000 { try Data().write(to: URL(filePath: place + "n\(1_000_000 + index * 7919 % 2000)")) }
        let page = try fixture.names(prefix: "n", after: "n1000009", limit: 50)
        #expect(page == (10..<60).map { Array("n10000\($0)".utf8) })
    }

    @Test("stops when asked to")
    func stops() throws {
        var count = 0
        try fixture.store.forEachName(in: fixture.place, prefix: "", after: nil, limit: nil) { _ in
            count += 1
            return count < 3
        }
        #expect(count == 3)
    }

    @Test("lets the body use the store")
    func reentrant() throws {
        try fixture.store.forEachName(in: fixture.place, prefix: "", after: nil, limit: nil) { name in
            (try? fixture.store.remove(fixture.key(name))) == true
        }
        #expect(try fixture.names().isEmpty)
    }

    @Test("leaves out irregular files, but for links, which reading then names, unless the folder is one of others")
    func otherKinds() throws {
        let place = fixture.folder.path + "/fileSystem@documents/"
        #expect(mkdir(place + "folder", 0o700) == 0)
        #expect(mkfifo(place + "pipe", 0o600) == 0)
        #expect(symlink("a", place + "link") == 0)
        #expect(try Set(fixture.names()) == Set(expected { _ in true } + [Array("link".utf8)]))
        let error = #expect(throws: StorageError.self) { try fixture.get("link") }
        #expect(error?.message.contains("link' is a symbolic link") == true)
        let others = StorageNamespace(domain: "fileSystem", scope: place, directory: place)
        #expect(try fixture.names(in: others) == expected { _ in true })
    }

    @Test("of an unknown namespace has no names")
    func unknownPlace() throws {
        #expect(try fixture.names(in: StorageNamespace(domain: "none")) == [])
    }

    @Test(
        "of namespaces includes each one that holds a value",
        arguments: [
            StorageNamespace(domain: "userDefaults"), StorageNamespace(domain: ".."), StorageNamespace(domain: "."),
            StorageNamespace(domain: ".x."), StorageNamespace(domain: "d", scope: "/home/someone/\u{e9}"),
            StorageNamespace(domain: "d", scope: ".."), StorageNamespace(domain: "d", scope: "a@b~c."),
            StorageNamespace(domain: "d", scope: String(repeating: "\u{1F600}", count: 256)),
            StorageNamespace(domain: String(repeating: "D", count: 64), scope: String(repeating: ".", count: 1024)),
        ])
    func places(place: StorageNamespace) throws {
        let before = try fixture.places()
        #expect(before == [fixture.place])
        let long = String(repeating: "a", count: 1024)
        try fixture.set(long, [1], in: place)
        #expect(try fixture.places() == [fixture.place, place])
        #expect(try fixture.names(in: place) == [Array(long.utf8)])
        #expect(try fixture.get(long, in: place) == [1])
        #expect(try fixture.store.remove(fixture.key(long, in: place)))
        #expect(try fixture.places() == before)
        #expect(try fixture.names() == expected { _ in true })
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).count == 2)
    }

    @Test("of namespaces leaves out foreign folders and files, and namespaces with their own folders")
    func foreignPlaces() throws {
        for name in ["@scope", "d@", "d@A", "d@%61", "a b", ".hidden", "x~"] {
            let path = "\(fixture.folder.path)/\(name)"
            #expect(mkdir(path, 0o700) == 0)
            try Data().write(to: URL(filePath: path + "/a"))
        }
        try Data().write(to: URL(filePath: fixture.folder.path + "/file"))
        #expect(try fixture.places() == [fixture.place])
    }
}
