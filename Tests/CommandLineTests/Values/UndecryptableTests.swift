import TestSupport
import Testing

@Suite("Values that cannot be decrypted")
struct UndecryptableTests {
    private let home: Home

    init() throws {
        home = try Home()
        for name in ["d", "e"] {
            try home.done("set", "encryptedFileSystem/\(name)", "--stdin", input: Array(name.utf8))
        }
    }

    @Test("are damaged for scrub, such as one that was put in another's place")
    func swapped() throws {
        #expect(try home.done("doctor", "--scrub").text.contains("0 of them are damaged"))
        let folder = "\(home.path)/data/localdata/files/encryptedFileSystem@documents"
        #expect(try home.shell("cp -a \(folder)/e \(folder)/d").status == 0)
        let scrub = try home.run("doctor", "--scrub")
        #expect(scrub.status != 0 && scrub.text.contains("1 of them are damaged"), "\(scrub.text)")
        #expect(scrub.text.contains("encryptedFileSystem:documents/d"), "\(scrub.text)")
    }

    @Test("are reported by doctor and keys list if their key ring is missing")
    func missingRing() throws {
        #expect(try home.shell("rm data/localdata/keychain/*/master").status == 0)
        for words in [["doctor"], ["doctor", "--scrub"], ["keys", "list"]] {
            let ending = try home.run(BuiltProducts.host, words)
            #expect(ending.status != 0, "\(words): \(ending.text)")
            #expect(
                (ending.text + ending.errors).contains("is missing although it existed"), "\(words): \(ending.text)")
        }
    }
}
