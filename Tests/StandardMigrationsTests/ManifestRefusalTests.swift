import FoundationEssentials
import LocalDataAPI
import Testing

@testable import MigrationManifest

@Suite("invalid manifests") struct ManifestRefusalTests {
    @Test(
        "the error names the step, the member and the mistake, and nothing runs",
        arguments: [
            (#"{"id":"a"}"#, "step 'a': has no action"),
            (#"{"rename":{}}"#, "step 1: 'id' is missing"),
            (#"{"id":"","remove":"rows/a"}"#, "step 1, id: expected a name"),
            (#"{"id":"a\nb","remove":"rows/a"}"#, "step 1, id: expected at most 256 bytes on one line"),
            (#"{"id":3,"remove":"rows/a"}"#, "step 1, id: expected a name for the step that never changes, found 3"),
            (#"3"#, "step 1: expected an object, found 3"),
            (#"{"id":"a","remove":"rows/a","move":{}}"#, "step 'a': has several actions: move, remove"),
            (#"{"id":"a","renmae":{}}"#, "step 1: unknown member 'renmae'"),
            (#"{"id":"a","rename":{"form":"rows/a"}}"#, "step 'a', rename: unknown member 'form'"),
            (#"{"id":"a","rename":{"from":"rows/a"}}"#, "step 'a', rename: 'to' is missing"),
            (#"{"id":"a","rename":["rows/a"]}"#, "step 'a', rename: expected an object, found an array"),
            (#"{"id":"a","rename":{"from":"a","to":"rows/b"}}"#, "step 'a', rename.from: 'a' has no name"),
            (#"{"id":"a","rename":{"from":"/a","to":"rows/b"}}"#, "step 'a', rename.from: '/a' has no domain"),
            (#"{"id":"a","rename":{"from":"r s/a","to":"rows/b"}}"#, "step 'a', rename.from: the domain 'r s'"),
            (#"{"id":"a","rename":{"from":"rows:%/a","to":"rows/b"}}"#, "step 'a', rename.from: the scope in"),
            (
                #"{"id":"a","rename":{"from":"fileSystem:x y/a","to":"rows/b"}}"#,
                "step 'a', rename.from: 'x y' is not a folder"
            ),
            (#"{"id":"a","rename":{"from":"rows/a*","to":"rows/b"}}"#, "step 'a', rename.from: expected a key"),
            (
                #"{"id":"a","rename":{"from":"rows/a","to":"rows/a"}}"#,
                "step 'a', rename: 'rows/a' would be moved to itself"
            ),
            (#"{"id":"a","rename":{"from":"rows/a","to":"fileSystem/a"}}"#, "step 'a', rename: 'rows' and 'fileSystem"),
            (#"{"id":"a","rename":{"from":7,"to":"rows/a"}}"#, "step 'a', rename.from: expected a key such as"),
            (
                #"{"id":"a","rename":{"from":{"address":"rows/a","serializer":"yaml"},"to":"rows/b"}}"#,
                "step 'a', rename.from.serializer: expected one of json, plist, text, data, custom, found 'yaml'"
            ),
            (
                #"{"id":"a","rename":{"from":{"address":"rows/a","security":"all"},"to":"rows/b"}}"#,
                "step 'a', rename.from.security: expected a security policy"
            ),
            (
                #"{"id":"a","rename":{"from":{"address":"rows/a","serializer":"json"},"#
                    + #""to":{"address":"rows/b","serializer":"plist"}}}"#, "step 'a', rename: the serializers differ"
            ),
            (#"{"id":"a","move":{"from":"rows/a","to":"rows/b"}}"#, "step 'a', move: both are in 'rows'"),
            (
                #"{"id":"a","move":{"from":"rows/a.*","to":"fileSystem/b"}}"#,
                "step 'a', move: 'rows/a.*' and 'fileSystem"
            ),
            (#"{"id":"a","move":{"from":"keychain:s/a","to":"rows"}}"#, "step 'a': 'keychain:s/a' is protected"),
            (#"{"id":"a","move":{"from":"keychain:s/a*","to":"rows"}}"#, "step 'a': 'keychain:s/' is protected"),
            (#"{"id":"a","prefix":{"from":"rows/a","to":"rows/b"}}"#, "step 'a', prefix: 'rows/a' is a key"),
            (
                #"{"id":"a","prefix":{"from":"rows/a.*","to":"rows/a.b.*"}}"#,
                "step 'a', prefix: 'rows/a.*' and 'rows/a.b.*'"
            ),
            (#"{"id":"a","prefix":{"from":"rows/a.*","to":"fileSystem/b.*"}}"#, "step 'a', prefix: 'rows' and"),
            (#"{"id":"a","default":{"key":"rows/a"}}"#, "step 'a', default: 'value' is missing"),
            (
                #"{"id":"a","default":{"key":{"address":"rows/a","serializer":"plist"},"value":null}}"#,
                "step 'a', default.value: 'rows/a': the value is null"
            ),
            (
                #"{"id":"a","default":{"key":{"address":"rows/a","serializer":"data"},"value":1}}"#,
                "step 'a', default.value: expected a text"
            ),
            (
                #"{"id":"a","default":{"key":"rows/a","value":1},"when":{"dataVersion":"<2"}}"#,
                "step 'a', when: there is no data"
            ),
            (
                #"{"id":"a","default":{"key":"rows/a","value":1},"onConflict":"fail"}"#,
                "step 'a', onConflict: a 'default'"
            ),
            (#"{"id":"a","reencode":{"from":"rows/a","to":"rows/b"}}"#, "step 'a', reencode: expected a 'serializer'"),
            (
                #"{"id":"a","reencode":{"from":{"prefix":"rows/a","serializer":"json"},"#
                    + #""to":{"prefix":"rows/a","serializer":"plist"}}}"#,
                "step 'a', reencode: 'rows/a*' would be moved"
            ),
            (#"{"id":"a","map":{"from":"rows/a","to":"rows/b"}}"#, "step 'a', map: 'fields' is missing or empty"),
            (#"{"id":"a","map":{"from":"rows/a","fields":[{"drop":"/x"}]}}"#, "step 'a': changes a value in place"),
            (
                #"{"id":"a","map":{"from":"rows/a","to":"rows/b","fields":[{"drop":"x"}]}}"#,
                "step 'a', map.fields[0].drop: expected a JSON pointer"
            ),
            (
                #"{"id":"a","map":{"from":"rows/a","to":"rows/b","fields":[{"drop":""}]}}"#,
                "step 'a', map.fields[0].drop: expected a JSON pointer"
            ),
            (
                #"{"id":"a","map":{"from":"rows/a","to":"rows/b","fields":[{"move":"/x","to":"/x/y"}]}}"#,
                "step 'a', map.fields[0]: '/x/y' is inside"
            ),
            (
                #"{"id":"a","map":{"from":"rows/a","to":"rows/b","fields":[{"cast":"/x","to":"date"}]}}"#,
                "step 'a', map.fields[0].to: expected one of string, number, boolean"
            ),
            (
                #"{"id":"a","map":{"from":"rows/a","to":"rows/b","fields":[{"drop":"/x","value":1}]}}"#,
                "step 'a', map.fields[0]: unknown member 'value'"
            ),
            (
                #"{"id":"a","map":{"from":"rows/a","to":"rows/b","fields":[{"drop":"/x","copy":"/y"}]}}"#,
                "step 'a', map.fields[0]: expected exactly one"
            ),
            (
                #"{"id":"a","map":{"from":{"address":"rows/a","serializer":"data"},"to":"rows/b","fields":[{"drop":"/x"}]}}"#,
                "step 'a', map.from: values with the serializer 'data'"
            ),
            (
                #"{"id":"a","aggregate":{"to":"rows/a","template":{"x":1}}}"#,
                "step 'a', aggregate.template: names no key"
            ),
            (
                #"{"id":"a","aggregate":{"to":"rows/a","template":{"x":{"$key":"rows/a"}}}}"#,
                "step 'a', aggregate: 'rows/a' is one of the keys"
            ),
            (
                #"{"id":"a","aggregate":{"to":"rows/a","template":[{"$key":"rows/b","pionter":"/x"}]}}"#,
                "step 'a', aggregate.template.0: unknown member 'pionter'"
            ),
            (
                #"{"id":"a","remove":"rows/a","revision":0}"#,
                "step 'a', revision: expected a whole number of 1 or more, found 0"
            ),
            (#"{"id":"a","remove":"rows/a","revision":1.5}"#, "step 'a', revision: expected a whole number"),
            (
                #"{"id":"a","remove":"rows/a","when":{"dataVersion":"2.0"}}"#,
                "step 'a', when.dataVersion: expected versions"
            ),
            (#"{"id":"a","remove":"rows/a","when":{"dataVersion":"< 2.0"}}"#, "step 'a', when.dataVersion: expected"),
            (#"{"id":"a","remove":"rows/a","when":{}}"#, "step 'a', when: has no version"),
            (
                #"{"id":"a","move":{"from":"rows/a*","to":"fileSystem"},"when":{"appVersion":"<2"}}"#,
                "step 'a', when: a step for a prefix has no condition"
            ),
            (
                #"{"id":"a","rename":{"from":"rows/a","to":"rows/b"},"onConflict":"replace"}"#,
                "step 'a', onConflict: expected one of keepDestination, dropSource, takeSource, fail"
            ),
            (#"{"id":"a","remove":"rows/a","after":["b"]}"#, "step 'a', after: there is no step 'b'"),
            (
                #"{"id":"a","remove":"rows/a","after":["a"]}"#,
                "step 'a', after: steps come after each other in a circle"
            ),
            (#"{"id":"a","remove":"rows/a","after":"b"}"#, "step 'a', after: expected a list of ids"),
        ])
    func refused(_ step: String, _ message: String) throws {
        let error = try #require(throws: StorageError.self) { try Manifest(text: "[\(step)]") }
        #expect(error.code == .invalidOptions && error.message.hasPrefix(message), "\(error.message)")
        #expect(!error.hint.isEmpty)
    }

    @Test("the hint has the name that was probably meant")
    func nearest() throws {
        for (text, hint) in [
            (#"[{"id":"a","renmae":{}}]"#, "did you mean 'rename'?"),
            (
                #"[{"id":"first","remove":"rows/a"},{"id":"b","remove":"rows/b","after":["frist"]}]"#,
                "did you mean 'first'?"
            ),
            (#"[{"id":"a","rename":{"from":"rows/a","to":"fileSystem/a"}}]"#, "write 'move' instead"),
        ] {
            let error = try #require(throws: StorageError.self) { try Manifest(text: text) }
            #expect(error.hint == hint)
        }
    }

    @Test("anything but a list, a long one, or one with a repeated id is refused; an empty list is fine")
    func lists() throws {
        #expect(try Manifest(text: "[]").steps.isEmpty)
        #expect(throws: StorageError.invalidOptions) { try Manifest(text: #"{"steps":{}}"#) }
        let step = #"{"id":"a","remove":"rows/a"}"#
        let error = try #require(throws: StorageError.self) { try Manifest(text: "[\(step),\(step)]") }
        #expect(error.message == "step 'a': there are two steps with this id")
        let many = (0...1000).map { "{\"id\":\"\($0)\",\"remove\":\"rows/\($0)\"}" }
        #expect(throws: StorageError.invalidOptions) { try Manifest(text: "[\(many.joined(separator: ","))]") }
        #expect(try Manifest(text: "[\(many.dropLast().joined(separator: ","))]").steps.count == 1000)
    }
}
