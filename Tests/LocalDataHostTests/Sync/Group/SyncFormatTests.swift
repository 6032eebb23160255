import Foundation
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostSync
@testable import LocalDataHost

/// What `SyncFormat.md` says, beside a second implementation.
@Suite("The specification of a group's records") struct SyncFormatTests {
    private static let document = "\(Repository.root)/Sources/ld-host/Host/LocalDataHost.docc/SyncFormat.md"

    /// The worked example, by the names of its lines.
    private func example() throws -> [String: String] {
        let text = try String(contentsOfFile: Self.document, encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```\n").dropFirst().first)
        var (values, what): ([String: String], String) = ([:], "")
        for line in block.split(separator: "\n") {
            if line.hasPrefix("  ") {
                values[what, default: ""] += line.dropFirst(2)
            } else {
                what = String(line.dropLast())
            }
        }
        return values
    }

    private func bytes(_ digits: String?) throws -> Data {
        let digits = Array(try #require(digits))
        return Data(
            try stride(from: 0, to: digits.count, by: 2).map {
                try #require(UInt8(String(digits[$0..<$0 + 2]), radix: 16))
            })
    }

    @Test("its worked example is that of the second implementation")
    func sameExample() throws {
        let program = ChildProcess(
            "/bin/sh",
            arguments: [
                "-c", "exec /usr/bin/python3 \"$0\" example",
                "\(Repository.root)/Tests/CommandLineTests/Programs/sync_group.py",
            ],
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"])
        let example = String(decoding: try program.run(deadline: .seconds(60)).output, as: UTF8.self)
        #expect(example.split(separator: "\n").count > 20)
        #expect(try String(contentsOfFile: Self.document, encoding: .utf8).contains("```\n\(example)```"))
    }

    @Test("its worked example opens, whichever provider computes", arguments: GroupProvider.allCases)
    func opening(_ provider: GroupProvider) throws {
        let (example, crypto) = (try example(), try provider.crypto())
        let epoch = try bytes(example["epoch's id"])
        let encoded =
            try Data([1]) + bytes(example["group's id"]) + bytes(example["group's secret"]) + Data([0, 1])
            + epoch + bytes(example["epoch's key"])
        let keys = try encoded.withBuffer { (bytes) throws(StorageError) in
            try GroupKeys(decoding: SecretBytes(copying: bytes), crypto)
        }
        let sealer = try RecordSealer(
            keys,
            epoch: try #require(EpochID(bytes: epoch).map { .init(number: 0, id: $0, eraStart: $0, era: [$0]) }), crypto
        )
        let name = try #require(example["record's name"])
        #expect(try sealer.name(of: "userDefaults/theme") == name)
        let key = try bytes(example["its public key"])
        let writer = try DeviceID(ofSigningKey: key, crypto)
        #expect(writer.text == example["device's id"])
        let (content, _) = try sealer.open(bytes(example["record"]), by: writer, signingWith: key, name: name)
        #expect(try content == bytes(example["content"]))
        guard case .value(let version, _, let address, let attributes, let data) = SyncContent(content)?.body else {
            Issue.record("the content is no value")
            return
        }
        #expect(version.author == writer && address == "userDefaults/theme" && data == Data("\"dark\"".utf8))
        #expect(attributes.owner == "Appearance" && attributes.serializer == "json")
    }
}
