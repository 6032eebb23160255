@testable import FileStore
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@Suite("Watching")
struct WatchTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("reports the names of values, and no other change of the folder")
    func names() throws {
        let long = String(repeating: "\u{e9}/", count: 300)
        try fixture.set("\(long)0", [1])
        let told = Recorder<String?>()
        let watch = try fixture.store.watch(fixture.place, prefix: "") { told.add($0) }
        defer { fixture.store.unwatch(watch) }
        let names = ["A", ".x", "a/b", "\(long)1", "\(long)2", "last"]
        for name in names { try fixture.set(name, [1]) }
        let place = fixture.folder.path + "/fileSystem@documents"
        try Data().write(to: URL(filePath: place + "/.tmp/x"))
        #expect(rename(place + "/.tmp/x", place + "/Foreign") == 0)
        try fixture.store.apply([
            StorageChange(key: fixture.key("batch"), value: Data()), StorageChange(key: fixture.key("A"), value: nil),
        ])
        try fixture.set("end", [1])
        let before = try #require(told.names(before: "end")).map { String(decoding: $0, as: UTF8.self) }
        #expect(before == names + ["batch", "A"] || before == names + ["A", "batch"])
    }

    @Test("reports only names with a prefix, compared as bytes")
    func prefix() throws {
        try fixture.set("other", [1])
        let told = Recorder<String?>()
        let watch = try fixture.store.watch(fixture.place, prefix: "e\u{301}") { told.add($0) }
        defer { fixture.store.unwatch(watch) }
        for name in ["\u{e9}", "e", "x", "e\u{301}x", "e\u{301}"] { try fixture.set(name, [1]) }
        #expect(told.names(before: "e\u{301}") == [Array("e\u{301}x".utf8)])
    }

    @Test("throws permissionDenied for a folder that this user may not read", .enabled(if: geteuid() == 0))
    func otherUserAsRoot() async {
        await #expect(processExitsWith: .success) {
            let fixture = try StoreFixture()
            try fixture.set("a", [1])
            #expect(seteuid(65534) == 0)
            #expect(throws: StorageError.permissionDenied) {
                try fixture.store.watch(fixture.place, prefix: "") { _ in }
            }
            #expect(seteuid(0) == 0)
        }
    }
}

extension Recorder<String?> {
    /// The names that were reported before one, which is compared as bytes; `nil` if that name is not reported.
    fileprivate func names(before last: String) -> [[UInt8]]? {
        take { ($0 ?? "").utf8.elementsEqual(last.utf8) }?.dropLast().map { Array(($0 ?? "anything").utf8) }
    }
}
