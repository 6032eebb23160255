import FoundationEssentials
import Testing

@Suite("A limit on the size of files")
struct FileSizeLimitTests {
    @Test(
        "fails the command with a clear message, and the value stays whole",
        arguments: [("fileSystem/value", 64), ("userDefaults/value", 256)])
    func value(_ address: String, _ blocks: Int) throws {
        let home = try Home()
        try home.done("set", address, "old")
        // A block has 512 bytes.
        let ending = try home.shell(
            "ulimit -f \(blocks); head -c 1000000 /dev/zero | ld-host set '\(address)' --stdin")
        #expect(ending.status == 2)
        #expect(ending.errors.contains("file too large (EFBIG)"), "\(ending.errors)")
        #expect(try home.done("get", address).text == "old")
    }
}
