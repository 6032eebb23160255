import Foundation
import LocalDataAPI
import LocalDataTesting
import Testing

@Suite struct VectorFileTests {
    /// A file with one group and one vector, `vector`.
    private func text(_ vector: String, type: String = "HkdfTest", algorithm: String = "HKDF-SHA-256") -> String {
        """
        {"algorithm": "\(algorithm)", "testGroups": [{"type": "\(type)", "tests": [\(vector)]}]}
        """
    }

    private func message(_ body: () throws -> Void) throws -> String {
        let error = try #require(throws: StorageError.self) { try body() }
        #expect(error.code == .deserializationFailed)
        return error.message
    }

    @Test(
        "a file in another format is refused, with its name and the fault",
        arguments: [
            ("", "is empty"), (" \n", "is empty"), ("5", "is not a JSON object"), ("[]", "is not a JSON object"),
            ("{", "is not valid JSON"), ("{}", "lacks 'algorithm'"),
            ("{\"algorithm\": 5}", "has 'algorithm' as an integer; expected a string"),
            ("{\"algorithm\": \"A\"}", "lacks 'testGroups'"),
            ("{\"algorithm\": \"A\", \"testGroups\": {}}", "has 'testGroups' as an object; expected an array"),
            ("{\"algorithm\": \"A\", \"testGroups\": [7]}", "testGroups[0] is an integer; expected an object"),
            ("{\"algorithm\": \"A\", \"testGroups\": [{}]}", "testGroups[0] lacks 'tests'"),
            ("{\"algorithm\": \"A\", \"testGroups\": [{\"tests\": []}]}", "testGroups[0] lacks 'type'"),
            (String(repeating: "[", count: 100_000), "is not a JSON object"),
            ("{\"algorithm\": \(String(repeating: "[", count: 100_000))", "is not valid JSON"),
        ])
    func form(_ text: String, _ expected: String) throws {
        let message = try message { _ = try VectorFile(Data(text.utf8), name: "a.json") }
        #expect(message.hasPrefix("vector file 'a.json'"))
        #expect(message.contains(expected), "\(message)")
    }

    @Test(
        "a vector of another form is refused, with its place",
        arguments: [
            ("{}", "tests[0] lacks 'tcId'"), ("{\"tcId\": 1}", "lacks 'result'"),
            ("{\"tcId\": -1, \"result\": \"valid\"}", "has 'tcId' as an integer; expected a whole number from 0"),
            ("{\"tcId\": 1e300, \"result\": \"valid\"}", "has 'tcId' as a number; expected a whole number from 0"),
            ("{\"tcId\": 1, \"result\": \"perhaps\"}", "(tcId 1) has the result 'perhaps'; expected valid, invalid or"),
        ])
    func vectors(_ vector: String, _ expected: String) throws {
        let message = try message { _ = try VectorFile(Data(text(vector).utf8), name: "a.json") }
        #expect(message.contains("'a.json': testGroups[0].tests[0]"))
        #expect(message.contains(expected), "\(message)")
    }

    @Test(
        "malformed hexadecimal digits and numbers are refused when they are needed",
        arguments: [
            ("\"ikm\": \"0g\"", "'ikm' as a string; expected pairs of hexadecimal digits"),
            ("\"ikm\": \"0\"", "'ikm' as a string; expected pairs of hexadecimal digits"),
            ("\"ikm\": \"é\"", "'ikm' as a string; expected pairs of hexadecimal digits"),
            ("\"ikm\": 10", "'ikm' as an integer; expected a string"),
            ("\"ikm\": \"0B\", \"salt\": \"\", \"info\": \"\", \"size\": 1.5", "'size' as a number; expected a whole"),
            ("\"ikm\": \"\", \"salt\": \"\", \"info\": \"\", \"size\": 123456789012345678901", "'size' as a number"),
        ])
    func hexadecimal(_ members: String, _ expected: String) throws {
        let crypto = try BuiltProvider.sodium.open()
        let vector = "{\"tcId\": 4, \"result\": \"valid\", \"okm\": \"00\", \(members)}"
        let file = try VectorFile(Data(text(vector).utf8), name: "a.json")
        let message = try message { _ = try VectorRun(crypto).run(file) }
        #expect(message.contains("testGroups[0].tests[0] (tcId 4)"))
        #expect(message.contains(expected), "\(message)")
    }

    @Test(
        "what the provider does not declare is skipped with its reason",
        arguments: [
            ("HkdfTest", "HKDF-SHA-384", "", "the algorithm HKDF-SHA-384"),
            ("MacTest", "HMACSHA256", "", "a group of the type MacTest"),
            ("XdhAsnComp", "XDH", "", "a group of the type XdhAsnComp"),
            ("AeadTest", "AES-EAX", "", "the algorithm AES-EAX"),
            (
                "HkdfTest", "HKDF-SHA-256",
                ", \"ikm\": \"\", \"salt\": \"\", \"info\": \"\", \"size\": 9000000000000000, \"okm\": \"\"",
                "outputs of more than 16777216 bytes"
            ),
            (
                "PbkdfTest", "PBKDF2-HMACSHA256",
                ", \"password\": \"\", \"salt\": \"\", \"iterationCount\": 9000000000000000000, \"dkLen\": 1, "
                    + "\"dk\": \"\"",
                "more than 10000000 iterations"
            ),
            (
                "AeadTest", "AES-GCM",
                ", \"key\": \"\(String(repeating: "00", count: 32))\", \"iv\": "
                    + "\"000000000000000000000000\", \"aad\": \"\", \"msg\": \"\", \"ct\": \"\", \"tag\": \"00\"",
                "AES-GCM with tags of 8 bits"
            ),
        ])
    func skips(_ type: String, _ algorithm: String, _ members: String, _ reason: String) throws {
        let vector = "{\"tcId\": 1, \"result\": \"valid\"\(members)}"
        let file = try VectorFile(Data(text(vector, type: type, algorithm: algorithm).utf8), name: "a.json")
        let report = try VectorRun(BuiltProvider.openssl.open()).run(file)
        #expect((report.passed, report.failed, report.skipped) == (0, 0, 1))
        #expect(report.skips.map(\.reason) == [reason])
    }

    @Test("vectors of one reason are counted together, and reports keep the order")
    func counting() throws {
        let vectors = (1...3).map { "{\"tcId\": \($0), \"result\": \"valid\"}" }.joined(separator: ",")
        let file = try VectorFile(Data(text(vectors, algorithm: "HKDF-SHA-1").utf8), name: "a.json")
        let report = try VectorRun(BuiltProvider.openssl.open()).run(file)
        #expect(report.skips.map(\.count) == [3])
    }

    @Test("a vector whose sizes differ from its group's is run, and must be refused")
    func otherSizes() throws {
        let vector = """
            {"tcId": 9, "comment": "short", "result": "invalid", "key": "00", "iv": "00", "aad": "", "msg": "",
             "ct": "", "tag": ""}
            """
        let group =
            "{\"type\": \"AeadTest\", \"keySize\": 256, \"ivSize\": 96, \"tagSize\": 128, \"tests\": [\(vector)]}"
        for result in ["invalid", "valid"] {
            let json = "{\"algorithm\": \"AES-GCM\", \"testGroups\": [\(group)]}"
                .replacingOccurrences(of: "\"invalid\"", with: "\"\(result)\"")
            let report = try VectorRun(BuiltProvider.openssl.open())
                .run(VectorFile(Data(json.utf8), name: "a.json"))
            #expect(report.passed == (result == "invalid" ? 1 : 0))
            #expect(report.failures.map(\.tcId) == (result == "invalid" ? [] : [9]))
        }
    }
}
