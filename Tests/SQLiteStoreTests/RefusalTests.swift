import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Files that the SQLite store refuses and leaves unchanged")
struct RefusalTests {
    /// Expects that opening fails with the code, that the message has the words, and that the file is unchanged and
    /// alone in its folder.
    private func expectRefusal(
        _ folder: TemporaryFolder, _ code: StorageError.Code, _ words: String,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let (content, entries) = (folder.content(BuiltStore.file), try folder.entries())
        let error = #expect(throws: StorageError.self, sourceLocation: location) { try BuiltStore(in: folder) }
        #expect(error?.code == code, "\(String(describing: error))", sourceLocation: location)
        #expect(error?.message.contains(words) ?? false, "\(String(describing: error))", sourceLocation: location)
        #expect(error?.message.contains("\(folder.path)/\(BuiltStore.file)") ?? false, sourceLocation: location)
        #expect(error?.hint.isEmpty == false, sourceLocation: location)
        #expect(folder.content(BuiltStore.file) == content, sourceLocation: location)
        #expect(try folder.entries() == entries, sourceLocation: location)
    }

    @Test("a database of a later schema, whether or not its log was checkpointed")
    func laterSchema() throws {
        let folder = try TemporaryFolder()
        do {
            let store = try BuiltStore(in: folder)
            try store.set("name", Data("value".utf8))
            store.store.close()
        }
        try BuiltStore.run("PRAGMA user_version = 2", in: "\(folder.path)/\(BuiltStore.file)")
        try expectRefusal(folder, .unsupported, "has the schema version 2; this version knows up to 1")
    }

    @Test("a database of a later schema whose log was left behind")
    func laterSchemaInLog() throws {
        let store = try BuiltStore()
        try store.set("name", Data("value".utf8))
        // The store is open, so the change stays in the log.
        try store.run("PRAGMA user_version = 2")
        let error = #expect(throws: StorageError.self) { try BuiltStore(in: store.folder) }
        #expect(error?.code == .unsupported)
    }

    @Test("a database of another application, also one with a log")
    func foreign() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/\(BuiltStore.file)"
        try BuiltStore.run("CREATE TABLE value (place, name, content); INSERT INTO value VALUES (1, 2, 3)", in: path)
        try expectRefusal(folder, .storeUnavailable, "belongs to another application (id 0)")
        try BuiltStore.run("PRAGMA application_id = 7; PRAGMA journal_mode = WAL", in: path)
        try expectRefusal(folder, .storeUnavailable, "belongs to another application (id 7)")
    }

    @Test("a database that was made from a dump lacks its marks, and the command that sets them makes it serve again")
    func dumped() throws {
        let (store, folder) = (try BuiltStore(), try TemporaryFolder())
        try store.set("name", Data("value".utf8))
        let path = "\(folder.path)/\(BuiltStore.file)"
        try store.run("VACUUM INTO '\(path)'")
        try BuiltStore.run("PRAGMA application_id = 0; PRAGMA user_version = 0", in: path)
        let error = try #require(throws: StorageError.self) { try BuiltStore(in: folder) }
        #expect(error.message.contains("lost its marks"))
        let statements = try #require(error.hint.split(separator: "'").dropFirst(2).first { $0.contains("PRAGMA") })
        try BuiltStore.run(String(statements), in: path)
        #expect(try BuiltStore(in: folder).get("name") == Data("value".utf8))
    }

    @Test("a database whose text is UTF-16 is refused by that name")
    func otherEncoding() throws {
        let folder = try TemporaryFolder()
        try BuiltStore.run(
            """
            PRAGMA encoding = 'UTF-16le'; CREATE TABLE value (place, name, content); CREATE TABLE piece (version, number);
            PRAGMA application_id = 1279549812; PRAGMA user_version = 1
            """, in: "\(folder.path)/\(BuiltStore.file)")
        try expectRefusal(folder, .storeUnavailable, "is UTF-16; expected UTF-8")
    }

    @Test("files that are not databases")
    func noDatabase() throws {
        let folder = try TemporaryFolder()
        for content in [Data("not a database, but a text of some length\n".utf8), Data(seed: 1, count: 100_000)] {
            try folder.write(content, to: BuiltStore.file)
            try expectRefusal(folder, .corrupt, "file is not a database")
        }
        try folder.write(Data(), to: BuiltStore.file)
        try expectRefusal(folder, .corrupt, "is empty")
        try FileManager.default.removeItem(atPath: "\(folder.path)/\(BuiltStore.file)")
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/\(BuiltStore.file)", withIntermediateDirectories: false)
        try expectRefusal(folder, .storeUnavailable, "cannot open the database")
    }

    @Test("a truncated database is reported as damaged, and its bytes stay", arguments: [100, 512, 4096, 9000])
    func truncated(_ size: Int) throws {
        let folder = try TemporaryFolder()
        do {
            let store = try BuiltStore(in: folder)
            for index in 0..<200 { try store.set("name \(index)", Data(seed: index, count: 1000)) }
            store.store.close()
        }
        let content = Array(try #require(folder.content(BuiltStore.file)).prefix(size))
        try folder.write(content, to: BuiltStore.file)
        let error = #expect(throws: StorageError.self) {
            let store = try BuiltStore(in: folder)
            _ = try store.get("name 100")
        }
        #expect(error?.code == .corrupt, "\(String(describing: error))")
        #expect(throws: StorageError.corrupt) { try BuiltStore(in: folder).set("name 100", Data([1])) }
        #expect(folder.content(BuiltStore.file) == content)
    }

    @Test("options that make no sense")
    func options() {
        for options: [String: ComponentOption.Value] in [
            ["path": .string("relative.sqlite")], ["path": .string("/folder/")], ["path": .string("")],
            ["synchronous": .string("off")], ["largestValue": .integer(0)], ["largestValue": .integer(1_000_000_001)],
        ] {
            #expect(throws: StorageError.self, "\(options)") { try BuiltStore(options) }
        }
    }

    @Test("a change after the open database was deleted", arguments: [true, false])
    func deleted(hasWritten: Bool) throws {
        let first = try BuiltStore()
        try first.set("name", Data("old".utf8))
        let store = hasWritten ? first : try BuiltStore(in: first.folder)
        #expect(try store.get("name") == Data("old".utf8))
        for file in try store.folder.entries() {
            try FileManager.default.removeItem(atPath: "\(store.folder.path)/\(file)")
        }
        let error = #expect(throws: StorageError.self) { try store.set("name", Data("new".utf8)) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("was deleted or replaced") ?? false)
    }
}
