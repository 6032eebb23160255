import FoundationEssentials
import Testing

@testable import LocalDataAPI

@Suite("A data migrator") struct DataMigratorTests {
    private struct V1: Codable, Equatable { var name: String }
    private struct V2: Codable, Equatable {
        var name: String
        var email: String
    }
    private struct V3: Codable, Equatable, VersionedValue {
        static let version = 3
        var name: String
        var email: String
        var note: String
    }
    private struct Failure: Error {}

    private static func builder() -> DataMigrator<V3>.Builder {
        let builder = DataMigrator<V3>.Builder(targetType: V3.self)
        builder
            .register(from: V1.self, to: V2.self) { V2(name: $0.name, email: "none") }
            .register(from: V2.self, to: V3.self) { V3(name: $0.name, email: $0.email, note: "from 2") }
        return builder
    }

    private static func json(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }

    private static func decoded(_ data: Data) throws -> V3 { try JSONDecoder().decode(V3.self, from: data) }

    @Test("converts each version to the current one", arguments: ["1", "2", "3"])
    func steps(version: String) async throws {
        let migrator = try Self.builder().build()
        let old =
            switch version {
            case "1": try Self.json(V1(name: "Ada"))
            case "2": try Self.json(V2(name: "Ada", email: "none"))
            default: try Self.json(V3(name: "Ada", email: "none", note: "from 2"))
            }
        let (data, wasMigrated) = try await migrator.migrate(data: old)
        #expect(wasMigrated == (version != "3"))
        #expect(try Self.decoded(data) == V3(name: "Ada", email: "none", note: "from 2"))
    }

    // In the seed, the first decoder that succeeded won: bytes of V2 were decoded as V1, and the e-mail was lost.
    @Test("does not take a later version for an earlier one") func strictness() async throws {
        let migrator = try Self.builder().build()
        let data = try await migrator.migrate(data: Self.json(V2(name: "Ada", email: "ada@example.com"))).data
        #expect(try Self.decoded(data).email == "ada@example.com")
    }

    // With an optional new member, bytes of the old version decode as the new one, and the converter never ran.
    @Test("does not guess which version bytes without a tag are") func ambiguity() async throws {
        struct Old: Codable, Equatable { var name: String }
        struct New: Codable, Equatable {
            var name: String
            var email: String?
        }
        let builder = DataMigrator<New>.Builder(targetType: New.self)
        builder.register(from: Old.self, to: New.self) { New(name: $0.name, email: "converted") }
        let old = try Self.json(Old(name: "Ada"))
        let error = await #expect(throws: MigrationError.self) { try await builder.build().migrate(data: old) }
        #expect(error?.code == .ambiguous)
        #expect(error?.message.contains("New or Old") == true, "\(error?.message ?? "")")
        let tagged = try await builder.build().migrate(data: old, versionTag: "Old")
        #expect(try JSONDecoder().decode(New.self, from: tagged.data).email == "converted")
        let assumed = try await builder.assumeUntagged(Old.self).build().migrate(data: old)
        #expect(try JSONDecoder().decode(New.self, from: assumed.data).email == "converted")
    }

    @Test("reads what other encoders write: other order, spaces, null for nothing, other numbers")
    func spelling() async throws {
        struct Old: Codable, Equatable {
            var size: Double
            var scale: Float
            var note: String?
        }
        struct New: Codable, Equatable { var area: Double }
        let builder = DataMigrator<New>.Builder(targetType: New.self)
        builder.register(from: Old.self, to: New.self) { New(area: $0.size) }
        let data = Data(#"{ "scale" : 0.10000000149011612, "note" : null, "size" : 1.20e1 }"#.utf8)
        let found = try await builder.build().migrate(data: data)
        #expect(try JSONDecoder().decode(New.self, from: found.data) == New(area: 12))
        let extra = try await builder.build().migrate(data: Data(#"{"scale":0.1,"size":12,"extra":1}"#.utf8))
        #expect(extra.wasMigrated)
        for other in [#"{"size":12}"#, "[]", "{", "", "\u{0}"] {
            await #expect(throws: MigrationError.decodingFailed, "\(other)") {
                try await builder.build().migrate(data: Data(other.utf8))
            }
        }
    }

    @Test("an unknown tag is of a newer version, and never decoded") func newerVersion() async throws {
        let data = try Self.json(V3(name: "Ada", email: "", note: ""))
        let error = await #expect(throws: MigrationError.self) {
            try await Self.builder().build().migrate(data: data, versionTag: "4")
        }
        #expect(error?.code == .newerVersion)
        #expect(error?.message.contains("'4'") == true && error?.message.contains("'3', 'V1', 'V2'") == true)
    }

    @Test("names the type from which no converter leads on") func pathNotFound() async throws {
        let builder = DataMigrator<V3>.Builder(targetType: V3.self)
        builder.register(from: V1.self, to: V2.self) { V2(name: $0.name, email: "") }
        let error = await #expect(throws: MigrationError.self) {
            try await builder.build().migrate(data: Self.json(V1(name: "Ada")))
        }
        #expect(error?.code == .pathNotFound && error?.from == "V1")
    }

    @Test("a converter may throw and wait; its error is the reason of the chain's error") func failures() async throws {
        let builder = DataMigrator<V2>.Builder(targetType: V2.self)
        builder.register(from: V1.self, to: V2.self) { v1 in
            await Task.yield()
            guard !v1.name.isEmpty else { throw Failure() }
            return V2(name: v1.name, email: "")
        }
        let migrator = try builder.build()
        #expect(try await migrator.migrate(data: Self.json(V1(name: "Ada"))).wasMigrated)
        let error = await #expect(throws: MigrationError.self) {
            try await migrator.migrate(data: Self.json(V1(name: "")))
        }
        #expect(error?.code == .transformationFailed)
        #expect(error?.message.contains("from V1 to V2") == true && error?.message.contains("Failure") == true)
    }

    @Test("a value that reads back differently is refused") func finalType() async throws {
        struct Forgetful: Codable, Equatable {
            var name: String
            var extra = 0
            enum CodingKeys: CodingKey { case name }
        }
        let builder = DataMigrator<Forgetful>.Builder(targetType: Forgetful.self)
        builder.register(from: V2.self, to: Forgetful.self) { Forgetful(name: $0.name, extra: 7) }
        await #expect(throws: MigrationError.finalTypeMismatch) {
            try await builder.build().migrate(data: Self.json(V2(name: "Ada", email: "")))
        }
    }

    @Test("mistakes in the chain are found when it is built") func mistakes() {
        struct Other: Codable, Equatable { var name: String }
        func code(_ register: (DataMigrator<V3>.Builder) -> Void) -> MigrationError.Code? {
            let builder = Self.builder()
            register(builder)
            let built = Result { () throws(MigrationError) in try builder.build() }
            if case .failure(let error) = built { return error.code }
            return nil
        }
        #expect(
            code { $0.register(from: V1.self, to: V2.self) { V2(name: $0.name, email: "") } } == .duplicateConverter)
        #expect(code { $0.register(from: V3.self, to: V1.self) { V1(name: $0.name) } } == .converterCycle)
        #expect(code { $0.register(from: V1.self, to: V1.self) { $0 } } == .converterCycle)
        #expect(
            code { $0.register(from: Other.self, to: V3.self, version: "3") { _ in throw Failure() } } == .ambiguous)
        let twoWays = code {
            $0.register(from: V1.self, to: Other.self) { Other(name: $0.name) }
            $0.register(from: Other.self, to: V3.self) { V3(name: $0.name, email: "", note: "") }
        }
        #expect(twoWays == .ambiguous)
        let direct = code { $0.register(from: V1.self, to: V3.self) { V3(name: $0.name, email: "", note: "") } }
        #expect(direct == nil)
    }

    // In the seed, the plist path read only JSON.
    @Test("a version may have a serializer of its own") func serializers() async throws {
        let builder = DataMigrator<V2>.Builder(targetType: V2.self)
        builder.register(from: V1.self, to: V2.self, serializer: .plist) { V2(name: $0.name, email: "plist") }
        let data = try Serializer<V1>.plist.encode(V1(name: "Ada"))
        let found = try await builder.build().migrate(data: data)
        #expect(try JSONDecoder().decode(V2.self, from: found.data) == V2(name: "Ada", email: "plist"))
    }

    // In the seed, values were saved with the default encoder and read with the custom one.
    @Test("all versions of a key are read, and the value is written, with the key's own coders")
    func coders() async throws {
        struct Old: Codable, Equatable { var seen: Date }
        struct New: Codable, Equatable {
            var seen: Date
            var count: Int
        }
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
        let serializer = Serializer<New>.json(encoder: encoder, decoder: decoder)
        let builder = DataMigrator<New>.Builder(targetType: New.self)
        builder.register(from: Old.self, to: New.self) { New(seen: $0.seen, count: 1) }
        let old = Data(#"{"seen":"2026-01-31T12:00:00Z"}"#.utf8)
        let found = try await builder.build().decode(old, versionTag: nil, serializer)
        #expect(found.wasMigrated && found.value.count == 1)
        let written = String(decoding: try serializer.encode(found.value), as: UTF8.self)
        #expect(written.contains("2026-01-31T12:00:00Z"), "\(written)")
    }

    @Test("a type is identified by its version, by its registered tag, or by its name") func tags() throws {
        #expect(try Self.builder().build().versionTags == ["3", "V1", "V2"])
        let builder = DataMigrator<V2>.Builder(targetType: V2.self, version: "two")
        builder.register(from: V1.self, to: V2.self, version: "one") { V2(name: $0.name, email: "") }
        #expect(try builder.build().versionTags == ["two", "one"])
    }
}
