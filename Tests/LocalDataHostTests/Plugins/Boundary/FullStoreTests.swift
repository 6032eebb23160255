import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("every ability of a store across the boundary") struct FullStoreTests {
    let store: LoadedStore
    let place = StorageNamespace(domain: "userDefaults", scope: "a scope / with % signs")

    init() throws {
        let table = Plugin.export("Full", version: "1.0.0", .storage(FullStore.self))
        store = try PluginImage(linked: table, name: "Full").open("full")
    }

    private func value(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }

    @Test("the store has every ability but checks, and its properties arrive")
    func abilities() {
        #expect(
            store.abilityIDs == [
                "localdata.store.enumeration/1", "localdata.store.attributes/1", "localdata.store.streaming/1",
                "localdata.store.batch/1", "localdata.store.watch/1", "localdata.store.transactions/1",
                "localdata.store.bulk/1",
            ])
        #expect(
            store.properties
                == StoreProperties(
                    latency: .memory, isDurable: false, isShared: false, isKeychain: true, largestValue: 8 << 20))
    }

    @Test("a value of any size comes back byte for byte", arguments: [0, 1, 255, 4096, 1 << 20])
    func roundTrip(_ count: Int) throws {
        try store.with("value", in: place) { handle in
            #expect(try store.get(handle) == nil)
            #expect(try !store.exists(handle))
            try store.set(handle, to: value(count), attributes: nil)
            #expect(try store.get(handle) == value(count))
            #expect(try store.exists(handle))
            #expect(try store.remove(handle))
            #expect(try !store.remove(handle))
            #expect(try store.get(handle) == nil)
        }
    }

    @Test("a value above the store's limit is refused before it reaches the store, in every way to write it")
    func tooLarge() throws {
        try store.with("value", in: place) { handle in
            try store.set(handle, to: Data([1]), attributes: nil)
            let large = Data(count: 8 << 20 + 1)
            let error = try #require(throws: StorageError.self) { try store.set(handle, to: large, attributes: nil) }
            #expect(error.code == .valueTooLarge)
            #expect(error.message.contains("\(large.count) bytes") && error.message.contains("at most \(8 << 20)"))
            #expect(throws: StorageError.valueTooLarge) {
                try store.apply([StorageChange(key: handle, value: large)])
            }
            let transaction = try store.begin()
            #expect(throws: StorageError.valueTooLarge) { try store.set(handle, to: large, in: transaction) }
            store.rollback(transaction)
            #expect(try store.get(handle) == Data([1]))
        }
    }

    /// Names that look alike, are not valid file names, or break code that handles text carelessly.
    static let strangeNames = [
        "a", "A", ".", "..", "a/b", "a//b", "/", "~", "-", " ", "a ", "\n", "\u{1}", "\u{7F}", "%2F", "%", ":", "\\",
        "\"", "'", "*", "é", "e\u{301}", "ß", "SS", "ı", "İ", "\u{FEFF}", "\u{202E}cod", "👩‍👩‍👧‍👦", "\u{10FFFF}", "\u{FFFD}",
        String(repeating: "x", count: 1024), String(repeating: "é", count: 512),
    ]

    @Test("names are kept apart and listed in the order of their bytes, however strange")
    func names() throws {
        for (index, name) in Self.strangeNames.enumerated() {
            try store.with(name, in: place) { try store.set($0, to: Data([UInt8(index)]), attributes: nil) }
        }
        for (index, name) in Self.strangeNames.enumerated() {
            try store.with(name, in: place) { (handle) throws in #expect(try store.get(handle) == Data([UInt8(index)]))
            }
        }
        var listed: [String] = []
        try store.forEachName(in: place) {
            listed.append($0)
            return true
        }
        let sorted = Self.strangeNames.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(listed.map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
    }

    @Test("a list respects prefix, start and limit, and stops when its reader has enough")
    func paging() throws {
        for name in ["a1", "a2", "a3", "b1"] {
            try store.with(name, in: place) { try store.set($0, to: Data(), attributes: nil) }
        }
        func list(prefix: String = "", after: String? = nil, limit: Int? = nil, upTo most: Int = 99) throws -> [String]
        {
            var names: [String] = []
            try store.forEachName(in: place, prefix: prefix, after: after, limit: limit) {
                names.append($0)
                return names.count < most
            }
            return names
        }
        #expect(try list() == ["a1", "a2", "a3", "b1"])
        #expect(try list(prefix: "a") == ["a1", "a2", "a3"])
        #expect(try list(after: "a1") == ["a2", "a3", "b1"])
        #expect(try list(prefix: "a", after: "a1", limit: 1) == ["a2"])
        #expect(try list(upTo: 2) == ["a1", "a2"])
        #expect(try list(prefix: "c").isEmpty)
        var other: [String] = []
        try store.forEachName(in: StorageNamespace(domain: "userDefaults")) {
            other.append($0)
            return true
        }
        #expect(other.isEmpty)
    }

    @Test("namespaces come back with domain and scope, and stop when asked to")
    func places() throws {
        let places = [place, StorageNamespace(domain: "x"), StorageNamespace(domain: "x", scope: "y:z")]
        for place in places { try store.with("n", in: place) { try store.set($0, to: Data(), attributes: nil) } }
        var found: Set<StorageNamespace> = []
        try store.forEachPlace { found.insert($0).inserted }
        #expect(found == Set(places))
        var count = 0
        try store.forEachPlace { _ in
            count += 1
            return false
        }
        #expect(count == 1)
    }

    @Test("every attribute comes back, and an omitted one stays unknown")
    func attributes() throws {
        try store.with("value", in: place) { handle in
            #expect(try store.attributes(of: handle) == nil)
            let given = ValueAttributes(
                contentType: "text/plain; charset=\"utf-8\"", serializer: "custom", versionTag: "v2 ü",
                appVersion: "1.2.3",
                owner: "Team 🧪")
            try store.set(handle, to: Data("12345".utf8), attributes: given)
            var kept = try #require(try store.attributes(of: handle))
            #expect(kept.size == 5 && kept.modified != nil)
            (kept.size, kept.modified) = (nil, nil)
            #expect(kept == given)
            try store.set(handle, to: Data(), attributes: ValueAttributes(owner: "me"))
            let replaced = try #require(try store.attributes(of: handle))
            #expect(replaced.owner == "me" && replaced.contentType == nil && replaced.serializer == nil)
        }
    }

    @Test("a streamed value arrives whole and in order, in pieces of any size", arguments: [0, 1, 100_003, 1 << 20])
    func streaming(_ count: Int) throws {
        try store.with("value", in: place) { handle in
            #expect(try !store.read(handle) { _ in true })
            var rest = value(count)
            try store.write(handle, attributes: ValueAttributes(owner: "streamed")) { buffer in
                let piece = rest.prefix(min(buffer.count, 70_001))
                buffer.copyBytes(from: piece)
                rest = rest.dropFirst(piece.count)
                return piece.count
            }
            #expect(try store.get(handle) == value(count))
            #expect(try store.attributes(of: handle)?.owner == "streamed")
            var read = Data()
            var pieces = 0
            #expect(
                try store.read(handle) { piece in
                    read.append(contentsOf: piece)
                    pieces += 1
                    return true
                })
            #expect(read == value(count))
            #expect(pieces == (count + FullStore.pieceSize - 1) / FullStore.pieceSize)
        }
    }

    @Test("a reader that has enough of a streamed value is passed no more")
    func stopsReading() throws {
        try store.with("value", in: place) { handle in
            try store.set(handle, to: value(1 << 20), attributes: nil)
            var pieces = 0
            #expect(
                try store.read(handle) { _ in
                    pieces += 1
                    return pieces < 2
                })
            #expect(pieces == 2)
        }
    }

    @Test("a batch applies all of its changes in order, or none")
    func batch() throws {
        let handles = try ["a", "b", "c", "full"].map { try store.resolve(StorageAddress(place, name: $0)) }
        defer { for handle in handles { store.release(handle) } }
        let (a, b, c, full) = (handles[0], handles[1], handles[2], handles[3])
        for handle in [b, c] { try store.set(handle, to: Data("old".utf8), attributes: nil) }
        try store.apply([
            StorageChange(key: a, value: value(1 << 20), attributes: ValueAttributes(owner: "batch")),
            StorageChange(key: b, value: nil), StorageChange(key: b, value: Data()), StorageChange(key: c, value: nil),
            StorageChange(key: a, value: Data("last".utf8)),
        ])
        #expect(try store.get(a) == Data("last".utf8))
        #expect(try store.attributes(of: a)?.owner == nil)
        #expect(try store.get(b) == Data())
        #expect(try store.get(c) == nil)
        let error = try #require(throws: StorageError.self) {
            try store.apply([StorageChange(key: a, value: nil), StorageChange(key: full, value: Data([1]))])
        }
        #expect(error.code == .noSpace && error.message == "the store is full")
        #expect(try store.get(a) == Data("last".utf8))
        try store.apply([])
    }

    @Test("a batch of ten thousand changes arrives with the right attributes")
    func largeBatch() throws {
        let handles = try (0..<10_000).map { try store.resolve(StorageAddress(place, name: "k\($0)")) }
        defer { for handle in handles { store.release(handle) } }
        try store.apply(
            handles.enumerated().map { index, handle in
                StorageChange(
                    key: handle, value: Data("value \(index)".utf8),
                    attributes: ValueAttributes(contentType: "type \(index)", owner: "owner \(index)"))
            })
        for index in stride(from: 0, to: 10_000, by: 617) {
            #expect(try store.get(handles[index]) == Data("value \(index)".utf8))
            let kept = try store.attributes(of: handles[index])
            #expect(kept?.owner == "owner \(index)" && kept?.contentType == "type \(index)" && kept?.serializer == nil)
        }
    }

    @Test("a watch gets the requested reports, and none after its end")
    func watch() throws {
        let told = Recorder<String?>()
        let watch = try store.watch(place, prefix: "w") { told.add($0) }
        func change(_ name: String, in place: StorageNamespace) throws {
            try store.with(name, in: place) { handle in
                try store.set(handle, to: Data([1]), attributes: nil)
                _ = try store.remove(handle)
            }
        }
        try change("wé", in: place)
        try change("other", in: place)
        try change("w", in: StorageNamespace(domain: "userDefaults"))
        #expect(told.all == ["wé", "wé"])
        store.unwatch(watch)
        try change("wé", in: place)
        #expect(told.all == ["wé", "wé"])
        let error = try #require(throws: StorageError.self) { try store.watch(place, prefix: "refused") { _ in } }
        #expect(error.code == .busy && error.message == "too many watches")
    }

    @Test("a watch releases its resources at its end")
    func watchReleases() throws {
        weak var released: Recorder<String?>?
        do {
            let told = Recorder<String?>()
            released = told
            let watch = try store.watch(place) { told.add($0) }
            store.unwatch(watch)
        }
        #expect(released == nil)
    }
}

extension FullStoreTests {
    @Test("only the transaction itself sees its changes, until a commit makes them visible to all")
    func commit() throws {
        try store.with("a", in: place) { a in
            try store.with("b", in: place) { b in
                try store.set(b, to: Data("old".utf8), attributes: nil)
                let transaction = try store.begin()
                #expect(try store.get(a, in: transaction) == nil)
                try store.set(a, to: value(1 << 20), attributes: ValueAttributes(owner: "tx"), in: transaction)
                #expect(try store.get(a, in: transaction) == value(1 << 20))
                #expect(try store.remove(b, in: transaction))
                #expect(try !store.remove(b, in: transaction))
                #expect(try store.get(a) == nil)
                #expect(try store.get(b) == Data("old".utf8))
                try store.commit(transaction)
                #expect(try store.get(a) == value(1 << 20))
                #expect(try store.attributes(of: a)?.owner == "tx")
                #expect(try store.get(b) == nil)
            }
        }
    }

    @Test("a transaction that is rolled back has no effect")
    func rollback() throws {
        try store.with("a", in: place) { handle in
            try store.set(handle, to: Data("old".utf8), attributes: nil)
            let transaction = try store.begin()
            try store.set(handle, to: Data(), in: transaction)
            store.rollback(transaction)
            #expect(try store.get(handle) == Data("old".utf8))
        }
    }

    @Test("a transaction over a value that changed meanwhile is busy and has no effect")
    func conflict() throws {
        try store.with("read", in: place) { read in
            try store.with("written", in: place) { written in
                let transaction = try store.begin()
                _ = try store.get(read, in: transaction)
                try store.set(written, to: Data("mine".utf8), in: transaction)
                try store.set(read, to: Data("theirs".utf8), attributes: nil)
                let error = try #require(throws: StorageError.self) { try store.commit(transaction) }
                #expect(error.code == .busy && error.message.contains("read"))
                #expect(try store.get(written) == nil)
            }
        }
    }
}
