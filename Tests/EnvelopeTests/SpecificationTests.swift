import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The envelope's specification")
struct SpecificationTests {
    @Test("its worked example matches the second implementation, line by line")
    func workedExample() throws {
        let text = try String(contentsOfFile: Repository.specification, encoding: .utf8)
        let program = ChildProcess(
            "/bin/sh", arguments: ["-c", "exec python3 \"$0\" example", Repository.reference],
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"])
        let example = String(decoding: try program.run(deadline: .seconds(60)).output, as: UTF8.self)
        #expect(example.split(separator: "\n").count > 20)
        #expect(text.contains("```\n\(example)```"))
    }
}
