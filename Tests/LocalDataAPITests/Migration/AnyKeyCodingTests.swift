import FoundationEssentials
import LocalDataAPI
import Testing

@Suite("values of keys whose type is not known") struct AnyKeyCodingTests {
    private struct Point: Codable, Equatable { var x: Int }

    private func key<Value>(_ serializer: Serializer<Value>) -> StorageKey<Value> {
        StorageKey(
            name: "k", domain: .userDefaults(), security: .none, serializer: serializer, owner: "tests",
            description: "a key")
    }

    private func untyped(_ format: SerializerFormat) -> AnyStorageKey {
        AnyStorageKey(
            StorageKeyDescriptor(
                name: "k", domain: .userDefaults(), serializer: format, owner: "tests", description: "a key"))
    }

    @Test("seed defect 7: bytes are read with the key's own serializer")
    func own() throws {
        let plist = try Serializer<Point>.plist.encode(Point(x: 7))
        #expect(try AnyStorageKey.key(key(Serializer<Point>.plist)).value(Point.self, from: plist) == Point(x: 7))
        #expect(try untyped(.plist).value(Point.self, from: plist) == Point(x: 7))
        #expect(throws: StorageError.deserializationFailed) { try untyped(.json).value(Point.self, from: plist) }
        let bytes = Data([0, 255, 10])
        #expect(try untyped(.data).value(Data.self, from: bytes) == bytes)
        #expect(try untyped(.text).value(String.self, from: Data("x".utf8)) == "x")
        #expect(try untyped(.text).anyValue(from: Data("x".utf8)) == "x")
        #expect(throws: StorageError.unsupported) { try untyped(.text).value(Int.self, from: Data("5".utf8)) }
        #expect(throws: StorageError.deserializationFailed) { try untyped(.text).check(Data([0xFF])) }
        #expect(throws: StorageError.unsupported) { try untyped(.data).value(Point.self, from: bytes) }
        #expect(throws: StorageError.unsupported) { try untyped(.custom).anyValue(from: bytes) }
    }

    @Test("another type is refused with the key's name, without the value")
    func otherType() throws {
        let data = try Serializer<String>.json.encode("hunter2")
        for read in [
            { _ = try AnyStorageKey.key(key(.json) as StorageKey<String>).value(Int.self, from: data) },
            { _ = try untyped(.json).value(Int.self, from: data) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self, performing: read)
            #expect(error?.message.contains("'userDefaults/k'") == true && error?.message.contains("hunter2") == false)
        }
    }

    @Test("seed defect 42: a value of any type is a struct of JSON's kinds, whatever the serializer")
    func any() throws {
        let expected: AnyCodable = ["x": 7]
        let json = AnyStorageKey.key(key(.json) as StorageKey<Point>)
        #expect(try json.anyValue(from: Serializer.json.encode(Point(x: 7))) == expected)
        #expect(try untyped(.plist).anyValue(from: Serializer.plist.encode(Point(x: 7))) == expected)
        let reversed = key(
            Serializer<String>.custom(
                encode: { Data($0.reversed().map { String($0) }.joined().utf8) },
                decode: { String(String(decoding: $0, as: UTF8.self).reversed()) }))
        #expect(try AnyStorageKey.key(reversed).anyValue(from: Data("cba".utf8)) == "abc")
    }

    @Test("seed defect 14: keys that name each other as sources do not recurse endlessly")
    func mutual() throws {
        #expect(AnyStorageKey.key(Mutual.first).migration?.sources.first?.descriptor.name == "second")
        #expect(
            AnyStorageKey.key(Mutual.first).migration?.sources.first?.migration?.sources.first?.descriptor.name
                == "first")
    }

    private enum Mutual {
        static let first: StorageKey<String> = key("first") { .key(second) }
        static let second: StorageKey<String> = key("second") { .key(first) }

        private static func key(_ name: String, from source: @escaping @Sendable () -> AnyStorageKey) -> StorageKey<
            String
        > {
            StorageKey(
                name: name, domain: .userDefaults(), owner: "tests", description: "a key",
                migration: { AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: source())) })
        }
    }
}
