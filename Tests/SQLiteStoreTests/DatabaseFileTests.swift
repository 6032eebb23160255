import CSQLite
import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The files of the SQLite store")
struct DatabaseFileTests {
    @Test("nothing is created before the first value, and then files have mode 0600 and folders 0700")
    func modes() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/deep/er/my.sqlite"
        let store = try BuiltStore(in: folder, ["path": .string(path)])
        #expect(try store.get("name") == nil)
        #expect(try !store.remove("name"))
        #expect(try store.names() == [])
        #expect(try store.findings() == [])
        #expect(try folder.entries() == [])
        try store.set("name", Data("value".utf8))
        #expect(try folder.entries("deep/er") == ["my.sqlite", "my.sqlite-shm", "my.sqlite-wal"])
        for file in try folder.entries("deep/er") { #expect(try folder.mode("deep/er/\(file)") == 0o600, "\(file)") }
        for made in ["deep", "deep/er"] { #expect(try folder.mode(made) == 0o700, "\(made)") }
    }

    @Test("in a folder that its group cannot write to, files are this user's alone, set-group-ID bit or not")
    func groupOfHome() throws {
        for mode in [0o2750, 0o2755, 0o2700] as [mode_t] {
            let folder = try TemporaryFolder()
            try #require(chmod(folder.path, mode) == 0)
            for path in ["my.sqlite", "made/my.sqlite"] {
                let store = try BuiltStore(in: folder, ["path": .string("\(folder.path)/\(path)")])
                try store.set("name", Data("value".utf8))
            }
            #expect(try folder.mode("made") == 0o700)
            for file in try folder.entries("made") { #expect(try folder.mode("made/\(file)") == 0o600, "\(file)") }
            #expect(try folder.mode("my.sqlite") == 0o600)
        }
    }

    @Test("in a folder that belongs to a group, the group may read and write; one that the store makes does not")
    func group() throws {
        let folder = try TemporaryFolder()
        try #require(chmod(folder.path, 0o2770) == 0)
        for (path, mode) in [("my.sqlite", mode_t(0o660)), ("made/my.sqlite", 0o600)] {
            let store = try BuiltStore(in: folder, ["path": .string("\(folder.path)/\(path)")])
            try store.set("name", Data("value".utf8))
            for suffix in ["", "-wal", "-shm"] { #expect(try folder.mode(path + suffix) == mode, "\(path)\(suffix)") }
        }
        #expect(try folder.mode("made") == 0o700)
    }

    @Test("takes values again once the index of the log can be written, and not only after the next start")
    func readOnlyIndex() throws {
        let folder = try TemporaryFolder()
        let first = try BuiltStore(in: folder)
        try first.set("name", Data("before".utf8))
        first.store.close()
        // As after an error of the disk: all connections of a process share the way in which the first one has opened
        // the index.
        let path = "\(folder.path)/\(BuiltStore.file)"
        try Data().write(to: URL(filePath: "\(path)-shm"))
        var reader: OpaquePointer?
        defer { sqlite3_close(reader) }
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI
        try #require(sqlite3_open_v2("file:\(path)?readonly_shm=1", &reader, flags, nil) == SQLITE_OK)
        try #require(sqlite3_exec(reader, "SELECT * FROM sqlite_schema", nil, nil, nil) == SQLITE_OK)
        let store = try BuiltStore(in: folder)
        #expect(try store.get("name") == Data("before".utf8))
        let handle = try store.handle("name")
        let transaction = try store.store.begin()
        #expect(try store.store.get(handle, in: transaction) == Data("before".utf8))
        #expect(throws: StorageError.permissionDenied) { try store.set("name", Data("during".utf8)) }
        #expect(try store.get("name") == Data("before".utf8))
        sqlite3_close(reader)
        reader = nil
        // Another connection that is reading at that time still shares it.
        #expect(throws: StorageError.permissionDenied) { try store.set("name", Data("during".utf8)) }
        // What is opened meanwhile shares it, too, and is not kept.
        #expect(try store.get("name") == Data("before".utf8))
        store.store.rollback(transaction)
        let later = try store.store.begin()
        defer { store.store.rollback(later) }
        #expect(try store.store.get(handle, in: later) == Data("before".utf8))
        try store.set("name", Data("after".utf8))
        #expect(try store.get("name") == Data("after".utf8))
    }

    @Test("takes values once its folder can be synchronized, after a change for which it could not")
    func unsynchronizedFolder() throws {
        let folder = try TemporaryFolder()
        let store = try BuiltStore(in: folder)
        try store.set("name", Data("before".utf8))
        store.store.close()
        let again = try BuiltStore(in: folder)
        try #require(chmod(folder.path, 0o300) == 0)
        let isDone = (try? again.set("name", Data("during".utf8))) != nil
        try #require(chmod(folder.path, 0o700) == 0)
        // The superuser may read every folder.
        #expect(isDone == (geteuid() == 0))
        try again.set("name", Data("after".utf8))
        #expect(try again.get("name") == Data("after".utf8))
    }

    @Test("a change is refused once the log was deleted, or its index", arguments: ["-wal", "-shm"])
    func deletedLog(_ suffix: String) throws {
        let store = try BuiltStore()
        try store.set("name", Data("before".utf8))
        #expect(try store.get("name") == Data("before".utf8))
        try #require(unlink("\(store.folder.path)/\(BuiltStore.file)\(suffix)") == 0)
        let error = #expect(throws: StorageError.self) { try store.set("name", Data("after".utf8)) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("the log of the database") ?? false, "\(String(describing: error))")
        #expect(try store.get("name") == Data("before".utf8))
    }

    @Test("a database that another program has taken the log from keeps one again")
    func otherJournal() throws {
        let folder = try TemporaryFolder()
        let first = try BuiltStore(in: folder)
        try first.set("name", Data("before".utf8))
        first.store.close()
        try first.run("PRAGMA journal_mode = DELETE")
        let store = try BuiltStore(in: folder)
        #expect(try store.get("name") == Data("before".utf8))
        try store.set("name", Data("after".utf8))
        #expect(try folder.entries().contains("\(BuiltStore.file)-wal"))
        #expect(try store.get("name") == Data("after".utf8))
    }

    @Test("a namespace with a folder has its own database there")
    func folders() throws {
        let store = try BuiltStore()
        let own = StorageNamespace(domain: "fileSystem", scope: "own", directory: "\(store.folder.path)/own")
        let other = StorageNamespace(domain: "fileSystem", scope: "other", directory: "\(store.folder.path)/own")
        try store.set("name", Data("here".utf8))
        try store.set("name", Data("own".utf8), in: own)
        try store.set("name", Data("other".utf8), in: other)
        #expect(try store.get("name") == Data("here".utf8))
        #expect(try store.get("name", in: own) == Data("own".utf8))
        #expect(try store.get("name", in: other) == Data("other".utf8))
        #expect(try store.folder.mode("own/values.sqlite") == 0o600)
        #expect(try store.names(in: own) == ["name"])
        var places: [StorageNamespace] = []
        try store.store.forEachPlace {
            places.append($0)
            return true
        }
        #expect(places == [store.place])
        let changes = [
            StorageChange(key: try store.handle("name"), value: Data("1".utf8)),
            StorageChange(key: try store.handle("name", in: own), value: Data("2".utf8)),
        ]
        #expect(throws: StorageError.unsupported) { try store.store.apply(changes) }
        #expect(try store.get("name") == Data("here".utf8))
    }

    @Test("a path with characters that a URI or SQL would interpret is used literally")
    func strangePaths() throws {
        for name in [
            "a b", "100%", "%41", "what?immutable=0", "a#b", "quote'\"", "e\u{301}", "semi;colon", "new\nline",
        ] {
            let folder = try TemporaryFolder()
            let path = "\(folder.path)/\(name)"
            for value in 1...2 {
                let store = try BuiltStore(in: folder, ["path": .string(path)])
                #expect(try store.get("name") == (value == 1 ? nil : Data("1".utf8)), "\(name)")
                try store.set("name", Data("\(value)".utf8))
                store.store.close()
            }
            #expect(try folder.entries() == [name])
        }
    }

    @Test("the log is copied into the database when the last connection is closed")
    func closed() throws {
        let folder = try TemporaryFolder()
        let store = try BuiltStore(in: folder)
        try store.set("name", Data("value".utf8))
        store.store.close()
        #expect(try folder.entries() == [BuiltStore.file])
    }

    @Test("the log does not grow with the number of changes")
    func log() throws {
        let store = try BuiltStore(["synchronous": .string("normal")])
        let value = Data(seed: 1, count: 20_000)
        for _ in 0..<2000 { try store.set("name", value) }
        let size = try FileManager.default.attributesOfItem(
            atPath: "\(store.folder.path)/\(BuiltStore.file)-wal")[.size]
        // The changes wrote 40 MB.
        #expect(try #require(size as? Int) < 16 << 20)
    }
}
