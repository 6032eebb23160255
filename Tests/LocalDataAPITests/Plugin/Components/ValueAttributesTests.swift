import FoundationEssentials
import LocalDataAPI
import Testing

@Suite("Value attributes")
struct ValueAttributesTests {
    private func json(_ attributes: ValueAttributes) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(attributes), as: UTF8.self)
    }

    @Test("are an object of the known ones, with the names that stored values have")
    func names() throws {
        let attributes = ValueAttributes(
            contentType: "text/plain", serializer: "string", versionTag: "3", appVersion: "2.1", owner: "app", size: 4,
            modified: 5, expires: 6)
        let kept = try json(attributes.kept)
        #expect(
            kept == #"{"appVersion":"2.1","contentType":"text/plain","expires":6,"owner":"app","serializer":"string","#
                + #""versionTag":"3"}"#)
        #expect(try JSONDecoder().decode(ValueAttributes.self, from: Data(kept.utf8)) == attributes.kept)
        #expect(try json(ValueAttributes()) == "{}")
    }

    @Test("are read from an object with other members, too")
    func others() throws {
        let text = #"{"checksum":"crc32c 00000000 4 5","owner":"app","later":[1]}"#
        let read = try JSONDecoder().decode(ValueAttributes.self, from: Data(text.utf8))
        #expect(read == ValueAttributes(owner: "app"))
    }
}
