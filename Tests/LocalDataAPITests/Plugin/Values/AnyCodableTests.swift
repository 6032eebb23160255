import FoundationEssentials
import LocalDataAPI
import Testing

@Suite struct AnyCodableTests {
    static let values: [AnyCodable] = [
        nil, true, false, 0, 1, -1, AnyCodable(.int(.max)), AnyCodable(.int(.min)), 0.5, -1.25e300, "", "text", "true",
        "1",
        "👩‍👩‍👧 \0", [], [:], [nil, true, 1, 0.5, "x", [1, [2]], ["k": nil]], ["a": ["b": ["c": [1, 2, 3]]], "": ""],
    ]

    @Test("a value of any kind comes back from JSON unchanged", arguments: values)
    func json(_ value: AnyCodable) throws {
        let serializer = Serializer<[AnyCodable]>.json
        #expect(try serializer.decode(serializer.encode([value])) == [value])
    }

    @Test(
        "a value of any kind that property lists have comes back from one",
        arguments: values.filter { !"\($0)".contains("null") })
    func propertyList(_ value: AnyCodable) throws {
        let serializer = Serializer<[AnyCodable]>.plist
        #expect(try serializer.decode(serializer.encode([value])) == [value])
    }

    @Test("the plain value is the original")
    func plain() throws {
        let value: AnyCodable = ["list": [1, "x", nil], "flag": true]
        let members = try #require(value.value as? [String: any Sendable])
        #expect(members["flag"] as? Bool == true)
        let list = try #require(members["list"] as? [(any Sendable)?])
        #expect(list.count == 3 && list[0] as? Int == 1 && list[1] as? String == "x" && list[2] == nil)
        #expect(AnyCodable(nilLiteral: ()).value == nil)
    }

    @Test("a whole number that no integer holds becomes a number")
    func largeNumber() throws {
        let value = try Serializer<AnyCodable>.json.decode(Data("18446744073709551615".utf8))
        #expect(value == AnyCodable(.double(18_446_744_073_709_551_616)))
    }
}
