import FoundationEssentials
import TestSupport
import Testing

/// The addresses that the guide `Security` lists as the host's own.
@Suite("The host's own addresses")
struct ReservedAddressTests {
    /// The patterns of the guide's table.
    private static let listed: [String] = {
        let path = "\(Repository.root)/Sources/LocalDataAPI/LocalDataAPI.docc/Security.md"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let section = text.split(separator: "## The host's own addresses").last?.split(separator: "\n## ").first ?? ""
        return section.split(separator: "\n").compactMap { line in
            line.hasPrefix("| `") ? line.split(separator: "`").dropFirst().first.map(String.init) : nil
        }
    }()

    @Test("are listed")
    func areListed() { #expect(Self.listed.count >= 6 && Self.listed.contains("keychain:LocalData/*")) }

    @Test("are refused in every way in, before the host has stored anything there", arguments: listed)
    func refused(_ pattern: String) throws {
        let home = try Home()
        try home.done("set", "userDefaults/mine", "value")
        try home.done("set", "keychain:app/mine", "--stdin", input: Array("value".utf8))
        let before = try files(home)
        for name in ["sync", "master", "store vault", "log", "ring", "fresh"] {
            let address = pattern.replacing("*", with: name)
            let (domain, scope) = Self.parts(address)
            let frame = { (op: String, value: String) in
                PipeExchange.frame(
                    #"{"id":1,"op":"\#(op)","domain":"\#(domain)","scope":"\#(scope)","name":"\#(name)"}"#,
                    Array(value.utf8))
            }
            let document = #"{"$addresses": {"\#(address)": {"$text": "planted"}}}"#
            let batch = #"{"set": "\#(address)", "value": {"$text": "planted"}}"#
            let ways: [(words: [String], input: String)] = [
                (["get", address], ""), (["rm", address], ""), (["set", address, "--stdin"], "planted"),
                (["import", "-"], document), (["batch", "-"], batch),
            ]
            for (words, input) in ways {
                let ending = try home.run(BuiltProducts.host, words, input: Array(input.utf8))
                #expect(ending.status != 0 && ending.output.isEmpty, "\(words): \(ending.text)\(ending.errors)")
                #expect(
                    ending.errors.contains("keys of the host") || ending.errors.contains("LocalData keeps for itself"),
                    "\(words): \(ending.errors)")
            }
            for op in ["set", "get", "remove"] {
                let (answers, _) = try home.pipe(frame(op, op == "set" ? "planted" : ""))
                #expect(answers.allSatisfy { $0.text.contains("error") } && !answers.isEmpty, "\(op) \(address)")
            }
        }
        #expect(try files(home) == before)
        #expect(try home.done("ls").text == "keychain:app/mine\nuserDefaults/mine\n")
    }

    @Test("a value that another program stored where the configuration looks for a key is not believed")
    func planted() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            PYTHONPATH=$PACKAGE/Tests/EnvelopeTests/Reference python3 -B \
                $PACKAGE/Tests/CommandLineTests/Programs/forge.py ring ring.bin || exit 9
            ld-host set keychain:evil/acct --file ring.bin || exit 9
            ld-host config set encryption.service evil && ld-host config set encryption.account acct
            echo secret | ld-host set encryptedFileSystem/v --stdin 2> errors && exit 1
            grep -q "is not on its list as a ring" errors || exit 2
            ld-host config unset encryption.service && ld-host config unset encryption.account
            head -c 32 /dev/zero | ld-host set keychain:evil/key --stdin || exit 9
            sealing='{"source":"keychain","service":"evil","account":"key"}'
            ld-host config set stores.vault \
                '{"component":"file","options":{"root":"'$HOME'/vault"},"sealing":'$sealing'}'
            ld-host -c domains.userDefaults=vault set userDefaults/v secret 2> errors && exit 3
            grep -q "is not on its list as a store key" errors || exit 4
            # Only a person can say that it is theirs.
            ld-host keys adopt evil/key && ld-host -c domains.userDefaults=vault set userDefaults/v secret || exit 5
            """)
        #expect(ending.status == 0, "\(ending.status): \(ending.text)\(ending.errors)")
    }

    private static func parts(_ address: String) -> (domain: String, scope: String) {
        let place = address.split(separator: "/", maxSplits: 1)[0].split(separator: ":", maxSplits: 1).map(String.init)
        return (place[0], place.count > 1 ? place[1] : "")
    }

    /// The files of the data folder with their sizes.
    private func files(_ home: Home) throws -> [String] {
        try home.shell("find data -type f ! -name '*-wal' ! -name '*-shm' -printf '%p %s\\n' | sort").text
            .split(separator: "\n").map(String.init)
    }
}
