import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The migrations example")
struct SecureStorageSampleTests {
    @Test("migrates what an earlier version left, and has nothing to do the second time")
    func runs() throws {
        let example = try BuiltExample("SecureStorageSample")
        defer { example.remove() }
        let program = "\(example.products)/SecureStorageSample"
        var output = ""
        for arguments in [["prepare"], [], []] {
            output += "$ SecureStorageSample\(arguments.map { " \($0)" }.joined())\n"
            output += try example.run(program, arguments)
        }
        #expect(output == (try Repository.text("Tests/ExamplesTests/Expected/SecureStorageSample.txt")), "\(output)")
    }
}
