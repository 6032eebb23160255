@testable import FileStore
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@Suite("Pages of a listing")
struct PageTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder.path + "/fileSystem@documents" }

    init() throws {
        fixture = try StoreFixture()
        for index in 0..<50 { try fixture.set(Self.name(index), []) }
        try fixture.age()
    }

    private static func name(_ index: Int) -> String { "n\(1000 + index)" }

    private func page(after index: Int) throws -> [String] {
        try fixture.names(after: Self.name(index), limit: 3).map { String(decoding: $0, as: UTF8.self) }
    }

    private func names(_ indices: Int...) -> [String] { indices.map(Self.name) }

    @Test("a value that is set or removed between two pages is on the second one, or is not")
    func changes() throws {
        #expect(try page(after: 10) == names(11, 12, 13))
        #expect(try page(after: 13) == names(14, 15, 16))
        try fixture.set("n1017-new", [])
        #expect(try page(after: 16) == names(17) + ["n1017-new"] + names(18))
        try fixture.age()
        #expect(try page(after: 18) == names(19, 20, 21))
        try FileManager.default.removeItem(atPath: "\(folder)/\(Self.name(23))")
        #expect(try page(after: 21) == names(22, 24, 25))
        try fixture.age()
        #expect(try page(after: 25) == names(26, 27, 28))
        // Go backwards, and then use another prefix.
        #expect(try page(after: 10) == names(11, 12, 13))
        #expect(try fixture.names(prefix: "n104", after: "n1040", limit: 2).count == 2)
        #expect(try page(after: 46) == names(47, 48, 49))
        #expect(try page(after: 48) == names(49))
    }

    @Test("a folder that was replaced by another is listed again")
    func replaced() throws {
        #expect(try page(after: 10) == names(11, 12, 13))
        try FileManager.default.moveItem(atPath: folder, toPath: folder + "-old")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for index in [14, 19] { try Data().write(to: URL(filePath: "\(folder)/\(Self.name(index))")) }
        try fixture.age()
        #expect(try page(after: 13) == names(14, 19))
    }

    @Test("a long name, which has folders of its own, is noticed when it is added and when it is removed")
    func longNames() throws {
        let long = (0..<4).map { "n1030-" + String(repeating: "long", count: 80) + "\($0)" }
        for name in long[..<3] { try fixture.set(name, []) }
        let nested = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix("~") }
        try #require(nested.count == 1)
        try fixture.age()
        #expect(try page(after: 28) == names(29, 30) + long[..<1])
        try fixture.set(long[3], [])
        #expect(
            try fixture.names(after: long[1], limit: 3).map { String(decoding: $0, as: UTF8.self) }
                == long[2...] + names(31))
        try fixture.age()
        #expect(try page(after: 28) == names(29, 30) + long[..<1])
        #expect(try fixture.store.remove(fixture.key(long[1])))
        #expect(try fixture.names(after: long[0], limit: 1) == [Array(long[2].utf8)])
    }

    @Test("all pages together take little longer than one listing")
    func time() throws {
        for index in 0..<20_000 { try Data().write(to: URL(filePath: "\(folder)/m\(100_000 + index)")) }
        try fixture.age()
        let clock = ContinuousClock()
        var all = 0
        let whole = try clock.measure { all = try fixture.names().count }
        var (count, after) = (0, "")
        let paged = try clock.measure {
            while true {
                let page = try fixture.names(after: after, limit: 100)
                count += page.count
                guard page.count == 100, let last = page.last else { break }
                after = String(decoding: last, as: UTF8.self)
            }
        }
        #expect(all == 20_050 && count == 20_050)
        // Without the cache it took 200 times as long.
        #expect(paged < whole * 40, "\(paged) and \(whole)")
    }
}
