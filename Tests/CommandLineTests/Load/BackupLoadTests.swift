import FoundationEssentials
import TestSupport
import Testing

@Suite("Backups of many and of large values", .serialized)
struct BackupLoadTests {
    /// The most memory in KiB.
    private static let most = 64 << 10

    /// - Returns: The script's output, and the peaks of memory of the commands that it measures.
    private func run(_ script: String) throws -> (text: String, peaks: [Int]) {
        let home = try Home()
        let ending = try home.shell(
            """
            printf 'open sesame' > passphrase
            sealed='{"component":"file","options":{"root":"'$HOME'/sealed"},"sealing":"keyFile"}'
            ld-host config set stores.sealed "$sealed" 2> out
            all=; for i in userDefaults fileSystem keychain encryptedFileSystem; do all="$all -c domains.$i=sealed"; done
            measured() { \(LargeValueTests.measured) "$@" --passphrase-fd 0 < passphrase; }
            \(script)
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        let peaks = ending.errors.split(separator: "\n").compactMap { Int($0) }
        print("backup: peaks of memory in KiB: \(peaks)")
        return (ending.text, peaks)
    }

    @Test("many values are written and restored into a sealed store in little memory")
    func many() throws {
        let count = TestRun.isTorture ? 100_000 : 2000
        let (text, peaks) = try run(
            """
            seq \(count) | awk '{ printf "%s\\"k%06d\\": \\"value %d\\"\\n", NR == 1 ? "{" : ",", $1, $1 }
                END { print "}" }' > values
            ld-host import userDefaults values > out || exit
            measured ld-host backup backup || exit
            measured ld-host restore backup --plan || exit
            sealed='{"component":"sqlite","options":{"path":"'$HOME'/many.sqlite"},"sealing":"keyFile"}'
            ld-host config set stores.sealed "$sealed" 2> out
            measured ld-host $all restore backup || exit
            ld-host export userDefaults/ | sort > first
            ld-host $all export userDefaults/ | sort > second
            cmp first second && wc -l < first
            """)
        #expect(text.contains("userDefaults: 0 new, \(count) the same, 0 different, 0 only in 'sqlite'"), "\(text)")
        #expect(text.contains("values were restored from 'backup'; 0 were there already"), "\(text)")
        #expect(text.hasSuffix("\(count + 2)\n"), "\(text)")
        try #require(peaks.count == 3)
        for peak in peaks { #expect(peak < Self.most && peak > 1024) }
    }

    @Test("a large value is written and restored in little memory")
    func large() throws {
        let mebibytes = TestRun.isTorture ? 1024 : 64
        let (text, peaks) = try run(
            """
            head -c \(mebibytes)M /dev/urandom > value
            ld-host set fileSystem/large --file value || exit
            measured ld-host backup backup || exit
            rm -r data
            measured ld-host restore backup || exit
            ld-host get fileSystem/large | cmp - value || exit
            rm -r data
            measured ld-host -c domains.fileSystem=sqlite restore backup || exit
            ld-host -c domains.fileSystem=sqlite get fileSystem/large | cmp - value || exit
            measured ld-host $all restore backup || exit
            ld-host $all get fileSystem/large | cmp - value || exit
            """)
        #expect(text.split(separator: "\n").count { $0.contains("1 value was restored") } == 3, "\(text)")
        try #require(peaks.count == 4)
        for peak in peaks { #expect(peak < Self.most && peak > 1024) }
    }

    /// The sealed stores that many values are restored into.
    private static let sealedStores = [
        #"{"component":"file","options":{"root":"${data}/sealed"},"sealing":"keyFile"}"#,
        #"{"component":"sqlite","options":{"path":"${data}/sealed.sqlite"},"sealing":"keyFile"}"#,
    ]

    @Test(
        "a restore of many values into a sealed store that is disturbed leaves all of the old or all of the new",
        arguments: sealedStores)
    func disturbed(_ store: String) throws {
        let count = TestRun.isTorture ? 100_000 : 300
        let passphrase = Array("open sesame".utf8)
        let maker = try Home()
        try maker.done("import", "userDefaults", "-", input: Self.values("new", count))
        let file = "\(maker.path)/backup"
        try maker.done("backup", file, "--passphrase-fd", "0", input: passphrase)
        let home = try Home()
        try home.done("config", "set", "stores.sealed", store)
        for domain in ["userDefaults", "fileSystem", "keychain", "encryptedFileSystem"] {
            try home.done("config", "set", "domains.\(domain)", "sealed")
        }
        try home.done("import", "userDefaults", "-", input: Self.values("old", count / 2))
        func stored() throws -> [Substring] {
            let ending = try home.run("export", "userDefaults/")
            guard ending.status == 0 else { throw TestFailure(ending.errors) }
            return ending.text.split(separator: "\n").sorted()
        }
        let before = try stored()
        let disturbed = try DisturbedHome(
            home, ["restore", file, "--overwrite", "--passphrase-fd", "0"], input: passphrase)
        #expect(try disturbed.run().status == 0)
        let after = try stored()
        #expect(before.count == count / 2 + 2 && after.count == count + 2)
        let operation = ManyValues(testDescription: "restore of \(count) values into \(store)")
        let campaign = FaultCampaign(operation: operation, sample: 1, most: 20)
        try campaign.run(fewest: 6, in: { disturbed }) { run, what in
            let found = try stored()
            #expect(found == before || found == after, "\(found.count) values; \(what)")
            #expect(found == after || run.ending.status != 0, "success without effect; \(what)")
            let again = try disturbed.run()
            #expect(again.status == 0, "cannot be done again: \(again.errors); \(what)")
            #expect(try stored() == after, "not done by the next; \(what)")
            #expect(try disturbed.debris() == [], "\(what)")
        }
    }

    /// An export with values of a number of keys.
    private static func values(_ kind: String, _ count: Int) -> [UInt8] {
        Array("{\((1...count).map { "\"key \($0)\":\"\(kind) \($0)\"" }.joined(separator: ","))}".utf8)
    }
}

private struct ManyValues: CustomTestStringConvertible {
    let testDescription: String
}
