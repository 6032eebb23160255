import FileStore
import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import Testing

@Suite("Watching")
struct WatchTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("tells the names of values, and of nothing else that is done in the folder")
    func names() throws {
        let long = String(repeating: "\u{e9}/", count: 300)
        try fixture.set("\(long)0", [1])
        let told = Told()
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
        #expect(told.hears("end"))
        #expect(told.names == names + ["batch", "A"] || told.names == names + ["A", "batch"])
    }

    @Test("keeps to a prefix of bytes")
    func prefix() throws {
        try fixture.set("other", [1])
        let told = Told()
        let watch = try fixture.store.watch(fixture.place, prefix: "e\u{301}") { told.add($0) }
        defer { fixture.store.unwatch(watch) }
        for name in ["\u{e9}", "e", "x", "e\u{301}x", "e\u{301}"] { try fixture.set(name, [1]) }
        #expect(told.hears("e\u{301}"))
        #expect(told.names.map { Array($0.utf8) } == [Array("e\u{301}x".utf8)])
    }

    @Test("says permissionDenied for a folder that this user may not read", .enabled(if: geteuid() == 0))
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

/// Names that were told, one by one.
private final class Told: Sendable {
    private let state = Mutex<(names: [String], awaited: String?)>(([], nil))
    private let isThere = Gate()

    /// What was told and not awaited.
    var names: [String] { state.withLock { $0.names } }

    func add(_ name: String?) {
        state.withLock { state in
            state.names.append(name ?? "anything")
            if let awaited = state.awaited, awaited.utf8.elementsEqual((name ?? "").utf8) { isThere.open() }
        }
    }

    /// Waits for a name, and forgets it.
    func hears(_ name: String) -> Bool {
        state.withLock { state in
            state.awaited = name
            if state.names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { isThere.open() }
        }
        guard isThere.wait() else { return false }
        state.withLock { $0.names.removeAll { $0.utf8.elementsEqual(name.utf8) } }
        return true
    }
}
