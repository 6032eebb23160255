import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import FileStore

@Suite("FileStore")
struct FileStoreTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test(
        "returns values of all sizes exactly",
        arguments: [0, 1, 1023, 4096, 16_383, 16_384, 16_385, 1 << 20, 16 << 20])
    func sizes(size: Int) throws {
        let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        #expect(try fixture.get("a") == nil)
        #expect(try fixture.store.exists(fixture.key("a")) == false)
        try fixture.set("a", value)
        #expect(try fixture.get("a") == value)
        #expect(try fixture.store.exists(fixture.key("a")))
        #expect(fixture.folder.content("fileSystem@documents/a") == value)
        #expect(try fixture.store.remove(fixture.key("a")))
        #expect(try fixture.store.remove(fixture.key("a")) == false)
        #expect(try fixture.get("a") == nil)
    }

    @Test("replaces longer values by shorter ones")
    func shorter() throws {
        for size in [100_000, 20_000, 100, 0, 50] {
            try fixture.set("a", [UInt8](repeating: UInt8(size % 251), count: size))
            #expect(try fixture.get("a") == [UInt8](repeating: UInt8(size % 251), count: size))
        }
    }

    @Test("declares its properties")
    func promises() {
        #expect(
            fixture.store.properties == StoreProperties(latency: .disk, isDurable: true, isShared: true))
        #expect(FileStore.component.id == "file")
        #expect(FileStore.component.options.map(\.name) == ["root", "frozen"])
        #expect(FileStore.component.options.first?.default == .string("${data}/files"))
    }

    @Test("makes nothing on the disk before the first value")
    func lazy() throws {
        let root = fixture.folder.path + "/later"
        let store = try StoreFixture.store(root: root)
        let key = try store.resolve(StorageAddress(fixture.place, name: "a"))
        #expect(try store.get(key) { _ in } == false)
        #expect(try store.attributes(of: key) == nil)
        try store.forEachName(in: fixture.place, prefix: "", after: nil, limit: nil) { _ in true }
        try store.forEachPlace { _ in true }
        #expect(fixture.folder.exists("later") == false)
    }

    @Test("refuses a root that is not an absolute path", arguments: ["", "files", "./files", "~/files"])
    func relativeRoot(root: String) {
        #expect(throws: StorageError.invalidOptions) { try StoreFixture.store(root: root) }
    }

    @Test("refuses options without a root")
    func noRoot() {
        #expect(throws: StorageError.invalidOptions) {
            try FileStore(options: ComponentOptions(), host: HostServices(name: "test", version: "1"))
        }
    }

    @Test("names the root that is a file", arguments: ["", "/below"])
    func rootIsFile(below: String) throws {
        let path = fixture.folder.path + "/file"
        try Data().write(to: URL(filePath: path))
        let error = #expect(throws: StorageError.self) { try StoreFixture.store(root: path + below) }
        #expect(error?.code == .storeUnavailable)
        // The error may name the obstructing file, or the folder that it obstructs.
        let names = error.map { $0.message.contains("'\(path)\(below)'") || $0.message.contains("'\(path)'") }
        #expect(names == true, "\(String(describing: error))")
    }

    @Test("refuses an empty name, and a folder that is not an absolute path")
    func badAddresses() {
        #expect(throws: StorageError.invalidAddress) { try fixture.key("") }
        for directory in ["", "relative", "/a\0b"] {
            let place = StorageNamespace(domain: "fileSystem", scope: "x", directory: directory)
            #expect(throws: StorageError.invalidAddress) { try fixture.key("a", in: place) }
        }
    }

    @Test("puts a namespace with its own folder exactly there")
    func ownFolder() throws {
        let path = fixture.folder.path + "/own é/sub"
        let place = StorageNamespace(domain: "fileSystem", scope: path, directory: path + "/")
        try fixture.set("a", [1], in: place)
        #expect(fixture.folder.content("own é/sub/a") == [1])
        #expect(try fixture.names(in: place) == [Array("a".utf8)])
        #expect(try fixture.store.remove(fixture.key("a", in: place)))
    }

    @Test("distinguishes folders whose names differ in their bytes only")
    func foldersByBytes() throws {
        for (index, accent) in ["e\u{301}", "\u{e9}"].enumerated() {
            let path = fixture.folder.path + "/" + accent
            let place = StorageNamespace(domain: "fileSystem", scope: path, directory: path)
            try fixture.set("a", [UInt8(index)], in: place)
            #expect(try fixture.get("a", in: place) == [UInt8(index)])
        }
        #expect(try fixture.folder.entries().count == 2)
    }

    @Test("shares what another store on the same root has written")
    func shared() throws {
        let other = try StoreFixture.store(root: fixture.folder.path)
        let key = try other.resolve(StorageAddress(fixture.place, name: "a"))
        try fixture.set("a", [1])
        #expect(try other.exists(key))
        #expect(try other.remove(key))
        #expect(try fixture.get("a") == nil)
    }

    @Test("closes the folders of namespaces that are no longer used")
    func closesFolders() throws {
        let path = fixture.folder.path
        let before = OpenFiles.count(below: path)
        for index in 0..<300 { #expect(try fixture.get("a", in: place("domain\(index)")) == nil) }
        try fixture.set("a", [1], in: place("kept"))
        for _ in 0..<300 { #expect(try fixture.get("a", in: place("kept")) == [1]) }
        let open = OpenFiles.count(below: path)
        #expect(open > before && open < before + 100)
    }

    @Test("keeps the folders open that were used last")
    func keepsFolders() throws {
        weak let kept = try fixture.key("a", in: place("kept")).place
        for index in 0..<3 { _ = try fixture.key("a", in: place("domain\(index)")) }
        #expect(kept != nil)
        for index in 0..<4 { _ = try fixture.key("a", in: place("domain\(index)")) }
        #expect(kept == nil)
    }

    @Test("maps the system's errors to codes, and names the file")
    func refusals() throws {
        try fixture.set("a", [1])
        #expect(unlink(fixture.folder.path + "/fileSystem@documents/a") == 0)
        #expect(mkdir(fixture.folder.path + "/fileSystem@documents/a", 0o700) == 0)
        for attempt in [
            { _ = try fixture.get("a") }, { try fixture.set("a", [1]) },
            { _ = try fixture.store.remove(fixture.key("a")) }, { _ = try fixture.store.exists(fixture.key("a")) },
            { _ = try fixture.store.attributes(of: fixture.key("a")) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self) { try attempt() }
            #expect(error?.code == .fileError)
            #expect(error?.message.contains("'\(fixture.folder.path)/fileSystem@documents/a' is a folder") == true)
        }
    }

    @Test("throws permissionDenied for another user", .enabled(if: geteuid() == 0))
    func otherUserAsRoot() async {
        await #expect(processExitsWith: .success) {
            let fixture = try StoreFixture()
            try fixture.set("a", [1])
            #expect(seteuid(65534) == 0)
            #expect(throws: StorageError.permissionDenied) { try fixture.get("a") }
            #expect(throws: StorageError.permissionDenied) { try fixture.set("a", [2]) }
            #expect(throws: StorageError.permissionDenied) { try fixture.store.remove(fixture.key("a")) }
            #expect(seteuid(0) == 0)
            #expect(try fixture.get("a") == [1])
        }
    }

    @Test("serves one key and many keys to many threads")
    func threads() throws {
        let fixture = fixture
        let failures = Mutex<[String]>([])
        onThreads(8) { thread in
            do {
                for round in 0..<20 {
                    try fixture.set("own \(thread)", [UInt8(thread), UInt8(round)])
                    try fixture.set("one", [UInt8](repeating: UInt8(thread), count: 1000 + thread))
                    let own = try fixture.get("own \(thread)")
                    let one = try fixture.get("one") ?? []
                    if own != [UInt8(thread), UInt8(round)] { failures.withLock { $0.append("own \(thread)") } }
                    if one.isEmpty || one != [UInt8](repeating: one[0], count: 1000 + Int(one[0])) {
                        failures.withLock { $0.append("a mixture of \(one.count) bytes") }
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try fixture.names().count == 9)
    }

    @Test("does not trap, and delivers once, while someone edits the file in place")
    func editedInPlace() throws {
        try fixture.set("a", [UInt8](repeating: 1, count: 100_000))
        let path = fixture.folder.path + "/fileSystem@documents/a"
        let fixture = fixture
        let failures = Mutex<[String]>([])
        onThreads(2) { thread in
            do {
                for round in 0..<2000 {
                    if thread == 0 {
                        if truncate(path, off_t(round * 37 % 100_000)) != 0 { throw StorageError.unknown }
                    } else {
                        _ = try fixture.get("a")
                    }
                }
            } catch let error as StorageError
                where error.message.contains("keeps changing") || error.code == .corrupt
            {
                // An emptied file must be reported as corrupt.
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    private func place(_ domain: String) -> StorageNamespace { StorageNamespace(domain: domain) }
}
