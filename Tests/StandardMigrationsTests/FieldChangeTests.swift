import JSON
import Testing

@testable import MigrationManifest

@Suite("changes of members") struct FieldChangeTests {
    private func changed(_ text: String, _ changes: String) throws -> String {
        var value = try JSON.parse(Array(text.utf8))
        guard case .array(let list) = try JSON.parse(Array(changes.utf8)).content else { return "" }
        for change in list { try FieldChange(change, at: ManifestPlace(step: "step", number: 1)).apply(to: &value) }
        return String(decoding: value.text, as: UTF8.self)
    }

    @Test(
        "each kind of change affects its field only, and other fields keep their bytes",
        arguments: [
            (#"{"a":1.10,"b":2}"#, #"[{"rename":"/a","to":"c"}]"#, #"{"b":2,"c":1.10}"#),
            (#"{"a":{"x":[1,2]},"b":2}"#, #"[{"move":"/a/x","to":"/y/z"}]"#, #"{"a":{},"b":2,"y":{"z":[1,2]}}"#),
            (#"{"a":1}"#, #"[{"copy":"/a","to":"/b"}]"#, #"{"a":1,"b":1}"#),
            (#"{"a":[1,2,3]}"#, #"[{"drop":"/a/1"}]"#, #"{"a":[1,3]}"#),
            (#"{"a":[1,2]}"#, #"[{"move":"/a/0","to":"/a/-"}]"#, #"{"a":[2,1]}"#),
            (#"{"a":[1,2]}"#, #"[{"set":"/a/1","value":9}]"#, #"{"a":[1,9,2]}"#),
            (#"{}"#, #"[{"set":"/v","value":12345678901234567890}]"#, #"{"v":12345678901234567890}"#),
            (#"{"v":1}"#, #"[{"set":"/v","value":1}]"#, #"{"v":1}"#),
            (#"{"v":1}"#, #"[{"default":"/v","value":2},{"default":"/w","value":null}]"#, #"{"v":1,"w":null}"#),
            (#"{"a":1}"#, #"[{"move":"/x","to":"/y","optional":true},{"drop":"/x","optional":true}]"#, #"{"a":1}"#),
            (#"{"a":1.10}"#, #"[{"cast":"/a","to":"string"}]"#, #"{"a":"1.10"}"#),
            (#"{"a":"1.10"}"#, #"[{"cast":"/a","to":"number"}]"#, #"{"a":1.10}"#),
            (
                #"{"a":["true","false",1,0,true]}"#,
                #"[{"cast":"/a/0","to":"boolean"},{"cast":"/a/1","to":"boolean"},{"cast":"/a/2","to":"boolean"},"#
                    + #"{"cast":"/a/3","to":"boolean"},{"cast":"/a/4","to":"string"}]"#,
                #"{"a":[true,false,true,false,"true"]}"#
            ),
            (
                #"{"a":true}"#, #"[{"cast":"/a","to":"number"},{"cast":"/b","to":"number","optional":true}]"#,
                #"{"a":1}"#
            ),
            (#"{"a/b":{"~":1}}"#, #"[{"rename":"/a~1b/~0","to":"/"}]"#, #"{"a/b":{"/":1}}"#),
        ])
    func applied(_ text: String, _ changes: String, _ expected: String) throws {
        #expect(try changed(text, changes) == expected)
    }

    @Test(
        "a member that does not fit is an error with the position and without the value",
        arguments: [
            (#"{"a":"secret"}"#, #"[{"move":"/b","to":"/c"}]"#, "'/b' is missing"),
            (#"{"a":"secret","b":1}"#, #"[{"rename":"/a","to":"b"}]"#, "'/b' has a value already"),
            (#"{"a":"secret"}"#, #"[{"set":"/a","value":1}]"#, "'/a' has a value already"),
            (#"{"a":"secret"}"#, #"[{"cast":"/a","to":"number"}]"#, "'/a' is a string that does not say a number"),
            (#"{"a":"0x10"}"#, #"[{"cast":"/a","to":"number"}]"#, "'/a' is a string"),
            (#"{"a":" 1"}"#, #"[{"cast":"/a","to":"number"}]"#, "'/a' is a string"),
            (#"{"a":2}"#, #"[{"cast":"/a","to":"boolean"}]"#, "'/a' is a number"),
            (#"{"a":null}"#, #"[{"cast":"/a","to":"string"}]"#, "'/a' is null"),
            (#"{"a":{"b":1}}"#, #"[{"cast":"/a","to":"string"}]"#, "'/a' is an object"),
            (#"{"a":"secret"}"#, #"[{"set":"/a/b","value":1}]"#, "'/a' is a string, expected an object or a list"),
            (#"{"a":[1]}"#, #"[{"set":"/a/7","value":1}]"#, "'/a' is a list of 1, and has no place '7'"),
            (#"{"a":[1]}"#, #"[{"set":"/a/01","value":1}]"#, "'/a' is a list of 1"),
            (#"[1]"#, #"[{"drop":"/1"}]"#, "'/1' is missing"),
            (#""secret""#, #"[{"set":"/a","value":1}]"#, "the value is a string"),
        ])
    func refused(_ text: String, _ changes: String, _ reason: String) throws {
        let fault = try #require(throws: PlaceFault.self) { try changed(text, changes) }
        #expect(fault.text.hasPrefix(reason) && !fault.text.contains("secret"), "\(fault.text)")
    }
}
