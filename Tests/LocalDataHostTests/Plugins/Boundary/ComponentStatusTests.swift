import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("statuses and tables of a C component", .waitsForPrograms) struct ComponentStatusTests {
    private func withStore(
        _ variant: String..., body: (LoadedStore, StoreHandle) throws -> Void
    ) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let store = try PluginImage.load(fixture.build(variant: variant)).open()
        try store.with("name") { try body(store, $0) }
    }

    @Test("a failure without a report says so")
    func silentFailure() throws {
        try withStore("FIXTURE_GET_SILENT_FAILURE") { store, handle in
            let error = try #require(throws: StorageError.self) { try store.get(handle) }
            #expect(error.code == .unknown && error.message.contains("without reporting an error"))
        }
    }

    @Test("a report with a later version's code and bytes that are not text arrives readable")
    func unknownCode() throws {
        try withStore("FIXTURE_GET_ERROR=9999") { store, handle in
            let error = try #require(throws: StorageError.self) { try store.get(handle) }
            #expect(error.code == StorageError.Code(rawValue: 9999))
            #expect(error.message == "reported by the fixture, with \u{FFFD} a byte that is no UTF-8")
            #expect(error.hint == "try again")
            #expect(StorageError(error.code).message == "error 9999")
        }
    }

    @Test("a store that reports a value and delivers none is at fault")
    func nothingWritten() throws {
        try withStore("FIXTURE_GET_NOTHING") { store, handle in
            let error = try #require(throws: StorageError.self) { try store.get(handle) }
            #expect(error.code == .unknown && error.message.contains("did not write it"))
        }
    }

    @Test(
        "only the status OK counts as a change that was made",
        arguments: [(2, 37), (3, 15), (7, 15), (-1, 15), (-9, 15)])
    func statuses(_ status: Int, _ code: Int32) throws {
        try withStore("FIXTURE_STATUS=\(status)") { store, handle in
            let expected = StorageError(StorageError.Code(rawValue: code))
            #expect(throws: expected) { try store.set(handle, to: Data([1]), attributes: nil) }
            #expect(throws: expected) { _ = try store.get(handle) }
            #expect(throws: expected) { _ = try store.remove(handle) }
            #expect(throws: expected) { _ = try store.exists(handle) }
        }
    }

    @Test("the status for an absent value is not a success of a write")
    func absentWrite() throws {
        try withStore("FIXTURE_STATUS=1") { (store, handle) throws in
            #expect(throws: StorageError.self) { try store.set(handle, to: Data([1]), attributes: nil) }
            #expect(try store.get(handle) == nil)
        }
    }

    @Test("an address that a store rejects is the store's error")
    func resolveFails() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let store = try PluginImage.load(fixture.build("FIXTURE_RESOLVE_FAILS")).open()
        let error = try #require(throws: StorageError.self) { try store.with("name") { _ in } }
        #expect(error.code == .invalidAddress && error.message == "the fixture resolves nothing")
        #expect(error.hint == "use another fixture")
    }

    @Test(
        "an ability whose table is short or has no functions is not offered, and asking for it is an error",
        arguments: [["FIXTURE_NULL_ABILITIES"], ["FIXTURE_NULL_ABILITIES", "FIXTURE_SHORT_ABILITIES"]])
    func brokenAbilities(_ variant: [String]) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let store = try PluginImage.load(fixture.build(variant: variant)).open()
        #expect(store.abilityIDs.isEmpty)
        let place = StorageNamespace(domain: "userDefaults")
        try store.with("name") { handle in
            let calls: [() throws -> Void] = [
                { try store.forEachName(in: place) { _ in true } }, { try store.forEachPlace { _ in true } },
                { _ = try store.attributes(of: handle) }, { try store.apply([]) }, { _ = try store.begin() },
                { _ = try store.watch(place) { _ in } },
            ]
            for call in calls {
                let error = try #require(throws: StorageError.self) { try call() }
                #expect(error.code == .unsupported && error.hint.contains("map the domain"))
            }
        }
    }

    @Test("a store is asked for each ability when it is first needed, and never again")
    func askedOnce() throws {
        try withStore("FIXTURE_LISTS_ASKED") { store, handle in
            func asked() throws -> [String] {
                var ids: [String] = []
                try store.forEachName(in: StorageNamespace(domain: "userDefaults")) {
                    ids.append(String($0.dropFirst()))
                    return true
                }
                return ids
            }
            let attributes = "localdata.store.attributes/1"
            let first = try asked()
            #expect(first.contains("localdata.store.enumeration/1") && !first.contains(attributes))
            for _ in 0..<2 { #expect(throws: StorageError.self) { try store.attributes(of: handle) } }
            let second = try asked()
            #expect(second.starts(with: first) && second.contains(attributes))
            #expect(Set(second).count == second.count)
        }
    }

    @Test("a store that cannot stream takes and gives a streamed value whole")
    func streamingFallback() throws {
        try withStore { store, handle in
            #expect(try !store.read(handle) { _ in true })
            var pieces = [Data("one, ".utf8), Data("two".utf8), Data()]
            try store.write(handle, attributes: nil) { buffer in
                let piece = pieces.removeFirst()
                buffer.copyBytes(from: piece)
                return piece.count
            }
            var read = Data()
            #expect(
                try store.read(handle) { piece in
                    read.append(contentsOf: piece)
                    return true
                })
            #expect(read == Data("one, two".utf8))
            try store.set(handle, to: Data(), attributes: nil)
            var calls = 0
            #expect(
                try store.read(handle) { _ in
                    calls += 1
                    return true
                })
            #expect(calls == 0, "an empty value has no pieces")
        }
    }

    @Test("a listed name that is not UTF-8 is damage, not a name")
    func badNames() throws {
        try withStore("FIXTURE_BAD_NAMES") { store, _ in
            var names: [String] = []
            let error = try #require(throws: StorageError.self) {
                try store.forEachName(in: StorageNamespace(domain: "userDefaults")) {
                    names.append($0)
                    return true
                }
            }
            #expect(error.code == .corrupt && error.message.contains("'userDefaults'"))
            #expect(names == ["good"])
        }
    }

    @Test("a component that reports its own error after the source failed does not hide the source's error")
    func spitefulSource() throws {
        struct Mine: Error {}
        try withStore("FIXTURE_SPITEFUL_SOURCE") { store, handle in
            #expect(throws: Mine.self) { try store.write(handle, attributes: nil) { _ in throw Mine() } }
        }
    }

    @Test("a component that logs reaches the host's log, with its label")
    func logs() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let log = LogRecorder()
        let image = try PluginImage.load(fixture.build("FIXTURE_LOGS"))
        _ = try image.openStore("fixture", options: ResolvedOptions(), host: HostTable.shared(for: log))
        #expect(log.lines == ["info fixture: hello from C"])
    }
}
