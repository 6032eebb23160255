import LocalDataAPI
import Testing

@Suite("semantic versions") struct SemanticVersionTests {
    @Test("seed defect 12: versions are in the order of the specification")
    func order() throws {
        let ordered = [
            "0.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
            "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2", "1.10", "2", "2.0.1", "18446744073709551616.0.0",
            "18446744073709551617.0.0",
        ]
        let versions = try ordered.map { try #require(SemanticVersion($0), "'\($0)'") }
        for (left, first) in versions.enumerated() {
            for (right, second) in versions.enumerated() {
                #expect((first < second) == (left < right), "\(first) and \(second)")
                #expect((first == second) == (left == right), "\(first) and \(second)")
            }
        }
    }

    @Test("seed defect 12: a missing number is 0, and build metadata does not count")
    func equality() {
        #expect(SemanticVersion("2.0") == SemanticVersion("2.0.0"))
        #expect(SemanticVersion("2") == SemanticVersion("2.0.0+build.7"))
        #expect(SemanticVersion("2.0-beta") == SemanticVersion("2.0.0-beta"))
        #expect(SemanticVersion("2.0-rc.1")?.description == "2.0.0-rc.1")
    }

    @Test(
        "seed defect 12: a malformed version is refused",
        arguments: [
            "", "Unknown", " 1.0", "1.0 ", "1..0", ".1", "1.", "1.0.0.0", "01.0", "1.-1", "+1", "1.0-", "1.0-a..b",
            "1.0-01", "1.0+", "1.0+a..b", "1.0-ü", "１.0", "v1.0", "1.0\n", "1.0-a+b+c",
        ])
    func malformed(_ text: String) { #expect(SemanticVersion(text) == nil) }
}
