import FoundationEssentials
import JSON
import LocalDataAPI
import ReaderExercise

@testable import MigrationManifest

/// Manifests of migrations, and the JSON that they and reshaped values are written in.
enum ManifestExercise {
    static func run(_ bytes: [UInt8]) throws {
        let json: JSON
        do throws(JSONFault) { json = try JSON.parse(bytes) } catch {
            try require((0...bytes.count).contains(error.offset), "a fault lies outside of its text")
            _ = JSONFault.place(of: error.offset, in: bytes)
            return
        }
        let again = try JSON.parse(json.text)
        try require(again == json, "JSON that was written is read as another value")
        try checkScalars(json)
        if let written = try? PropertyListValue.bytes(of: json) {
            let back = try PropertyListReader.read(written)
            try require(Likeness.isSame(back, json), "JSON comes back from a property list changed")
        }
        if let decoded = try? Serializer<AnyCodable>.json.decode(Data(bytes)) {
            try Likeness.require(json, decoded, "two readers of JSON disagree")
        }
        if let manifest = try? Manifest(json) {
            _ = (manifest.migrations, manifest.bulkMigrations)
            let second = try Manifest(again)
            try require(
                manifest.steps.map(\.fingerprint) == second.steps.map(\.fingerprint),
                "a manifest that was written has other fingerprints")
        }
        if let elements = try? Serializer<[AnyCodable]>.json.decode(Data(bytes)) { _ = try? Manifest(elements) }
    }

    private static func checkScalars(_ json: JSON) throws {
        switch json.content {
        case .null, .bool: break
        case .number(let text):
            try require(JSON.isNumber(text), "a number that was read is none")
            _ = (DecimalNumber(text), DecimalNumber.exactDouble(text))
        case .string(let text):
            if let pointer = JSONPointer(text) {
                try require(JSONPointer(pointer.description) == pointer, "a JSON pointer is read as another one")
            }
        case .array(let elements): for element in elements { try checkScalars(element) }
        case .object(let object): for member in object.members { try checkScalars(member.value) }
        }
    }

    static let samples: [[UInt8]] = [
        #"[{"id":"a","revision":2,"after":["b"],"onConflict":"takeSource","when":{"appVersion":">=2.0 <4"},"#
            + #""aggregate":{"to":"fileSystem/s","template":{"t":{"$key":"userDefaults/t","default":"x"},"l":[1,null]}}},"#
            + #"{"id":"b","rename":{"from":"userDefaults/c","to":"userDefaults/t"}}]"#,
        #"[{"id":"a","move":{"from":"userDefaults/token","to":"keychain:com.example"}},"#
            + #"{"id":"b","move":{"from":"userDefaults/n.*","to":"rows/n.*"}},"#
            + #"{"id":"c","prefix":{"from":"rows/old.*","to":"rows/new.*"}},{"id":"d","remove":"userDefaults/o"},"#
            + #"{"id":"e","default":{"key":"userDefaults/z","value":"system"}}]"#,
        #"[{"id":"a","reencode":{"from":{"address":"rows/p","serializer":"plist"},"#
            + #""to":{"address":"rows/p","serializer":"json"}}}]"#,
        #"[{"id":"a","when":{"dataVersion":"<2.0.0"},"map":{"from":"rows/p","fields":[{"rename":"/m","to":"e"},"#
            + #"{"move":"/c","to":"/a/c","optional":true},{"copy":"/id","to":"/l"},{"drop":"/x","optional":true},"#
            + #"{"cast":"/age","to":"number"},{"default":"/l","value":"en"},{"set":"/v","value":2}]}}]"#,
        #"{"a":[1,-2.50,1e10,0.1E-5,12345678901234567890],"~/":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00","":{"x":null}}"#,
        #"["/a~0b~1c/0/-",true,false,null,"",0,-0,[],{}]"#, "1e-400",
    ].map { Array($0.utf8) }
}
