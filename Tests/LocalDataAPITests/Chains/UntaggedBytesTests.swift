import FoundationEssentials
import Testing
@testable import LocalDataAPI

/// Bytes that a release stored before its key had versions.
@Suite("Bytes without a version") struct UntaggedBytesTests {
    enum Day: String, Codable, CaseIterable { case mon, tue, wed, thu, fri, sat, sun }

    /// Of release 1. It has what encoders write in another order in each process, and what they spell in another way.
    struct Old: Codable, Equatable {
        struct Entry: Codable, Hashable { var name: String }

        var tags: Set<String>
        var hours: [Day: Int]
        var entries: Set<Entry>
        var id: UUID
        var home: URL
        var colour = "red"

        private enum CodingKeys: CodingKey { case tags, hours, entries, id, home, colour }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tags = try container.decode(Set<String>.self, forKey: .tags)
            hours = try container.decode([Day: Int].self, forKey: .hours)
            entries = try container.decode(Set<Entry>.self, forKey: .entries)
            id = try container.decode(UUID.self, forKey: .id)
            home = try container.decode(URL.self, forKey: .home)
            colour = try container.decodeIfPresent(String.self, forKey: .colour) ?? "red"
        }
    }

    /// Of release 2, which another type replaces.
    struct Other: Codable, Equatable { var count: Int }

    /// Of release 2, which adds a member that may be absent.
    struct Optional: Codable, Equatable {
        var tags: Set<String>
        var hours: [Day: Int]
        var entries: Set<Old.Entry>
        var id: UUID
        var home: URL
        var note: String?
        var colour: String?
    }

    /// The members of a document of release 1, in one of the orders and spellings that it may have.
    private static func members(_ seed: Int) -> String {
        var random = SeededOrder(seed)
        let tags = ["swift", "linux", "data", "keys"].shuffled(using: &random).map { "\"\($0)\"" }
        let hours = Day.allCases.shuffled(using: &random).prefix(5).map {
            "\"\($0.rawValue)\",\($0.rawValue.utf8.count)"
        }
        let entries = ["one", "two", "three"].shuffled(using: &random).map { "{\"name\":\"\($0)\",\"extra\":1.0}" }
        return """
            "tags":[\(tags.joined(separator: ","))],"hours":[\(hours.joined(separator: ","))],
            "entries":[\(entries.joined(separator: ","))],
            "id":"0f8fad5b-d9cb-469f-a165-70867728950e","home":"https://example.org/café"
            """
    }

    private struct SeededOrder: RandomNumberGenerator {
        private var state: UInt64
        init(_ seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1 }
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    @Test("belong to the one version that decodes them, in whatever order and spelling", arguments: 0..<20)
    func oneDecodes(seed: Int) async throws {
        let builder = DataMigrator<Other>.Builder(targetType: Other.self)
        builder.register(from: Old.self, to: Other.self) { Other(count: $0.tags.count + $0.hours.count) }
        let migrator = try builder.build()
        let data = Data("{\(Self.members(seed)),\"ignored\":true}".utf8)
        #expect(try await migrator.value(in: data) == Other(count: 9))
    }

    @Test("belong to the version that reads all of them, whatever another one ignores", arguments: 0..<20)
    func readsMore(seed: Int) async throws {
        let builder = DataMigrator<Optional>.Builder(targetType: Optional.self)
        builder.register(from: Old.self, to: Optional.self) {
            Optional(tags: [], hours: [:], entries: [], id: $0.id, home: $0.home, note: "converted")
        }
        let later = Data("{\(Self.members(seed)),\"colour\":\"blue\",\"note\":\"kept\"}".utf8)
        let found = try await builder.build().value(in: later)
        #expect(found.note == "kept" && found.tags.count == 4 && found.entries.count == 3)
        // The app may say that its bytes are old ones; those that have what only the later version writes are not.
        let assuming = try builder.assumeUntagged(Old.self).build()
        #expect(try await assuming.value(in: later).note == "kept")
        let old = Data("{\(Self.members(seed)),\"colour\":\"blue\"}".utf8)
        #expect(try await assuming.value(in: old).note == "converted")
    }

    @Test("stay ambiguous in any order and spelling if two versions read as much", arguments: 0..<20)
    func ambiguous(seed: Int) async throws {
        let builder = DataMigrator<Optional>.Builder(targetType: Optional.self)
        builder.register(from: Old.self, to: Optional.self) {
            Optional(tags: $0.tags, hours: $0.hours, entries: $0.entries, id: $0.id, home: $0.home)
        }
        let old = Data("{\(Self.members(seed)),\"colour\":\"blue\"}".utf8)
        let error = await #expect(throws: MigrationError.self) { try await builder.build().value(in: old) }
        #expect(
            error?.code == .ambiguous && error?.message.contains("Optional or Old") == true, "\(error?.message ?? "")")
    }

    @Test("belong to the version that adds nothing to them, not to one that supplies a new member")
    func supplied() async throws {
        struct First: Codable, Equatable { var name: String }
        struct Second: Codable, Equatable {
            var name: String
            var email: String
            init(name: String, email: String) { (self.name, self.email) = (name, email) }
            private enum CodingKeys: CodingKey { case name, email }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                email = try container.decodeIfPresent(String.self, forKey: .email) ?? ""
            }
        }
        let builder = DataMigrator<Second>.Builder(targetType: Second.self)
        builder.register(from: First.self, to: Second.self) { Second(name: $0.name, email: "converted") }
        let migrator = try builder.build()
        #expect(try await migrator.value(in: Data(#"{"name":"Ada"}"#.utf8)).email == "converted")
        #expect(try await migrator.value(in: Data(#"{"name":"Ada","extra":1}"#.utf8)).email == "converted")
        #expect(try await migrator.value(in: Data(#"{"email":"a@b","name":"Ada","extra":1}"#.utf8)).email == "a@b")
    }

    @Test("that no version decodes are refused with the reason of each") func none() async throws {
        struct First: Codable, Equatable { var name: String }
        struct Second: Codable, Equatable { var size: Int }
        let builder = DataMigrator<Second>.Builder(targetType: Second.self)
        builder.register(from: First.self, to: Second.self) { _ in Second(size: 0) }
        let error = await #expect(throws: MigrationError.self) {
            try await builder.build().value(in: Data(#"{"size":1.5}"#.utf8))
        }
        #expect(error?.code == .decodingFailed)
        for part in ["Second", "expected Int at size, found a number with a fraction", "First", "no member 'name'"] {
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        }
    }

    @Test("in a format without a structure belong to the one version that decodes them") func custom() async throws {
        struct Failure: Error {}
        func letters(_ letter: String) -> Serializer<[String]> {
            .custom(
                encode: { Data((letter + $0.joined()).utf8) },
                decode: {
                    guard $0.first == letter.utf8.first else { throw Failure() }
                    return [String(decoding: $0.dropFirst(), as: UTF8.self)]
                })
        }
        let text = Serializer<String>.custom(
            encode: { Data(("t" + $0).utf8) },
            decode: {
                guard $0.first == UInt8(ascii: "t") else { throw Failure() }
                return String(decoding: $0.dropFirst(), as: UTF8.self)
            })
        let builder = DataMigrator<[String]>.Builder(targetType: [String].self)
        builder.register(from: String.self, to: [String].self, serializer: text) { [$0, "converted"] }
        let migrator = try builder.build()
        #expect(
            try await migrator.decode(Data("told".utf8), versionTag: nil, letters("l")).value == ["old", "converted"])
        #expect(try await migrator.decode(Data("lnew".utf8), versionTag: nil, letters("l")).value == ["new"])
        let error = await #expect(throws: MigrationError.self) {
            try await migrator.decode(Data("two".utf8), versionTag: nil, letters("t"))
        }
        #expect(error?.code == .ambiguous)
    }
}

/// Two releases of a type, in namespaces.
enum Release1 {
    struct Profile: Codable, Equatable { var name: String }
}

enum Release2 {
    struct Profile: Codable, Equatable {
        var name: String
        var email: String?
    }
}

enum Release3 {
    struct Profile: Codable, Equatable, VersionedValue {
        static let version = 3
        var name: String
        var email: String?
    }
}
