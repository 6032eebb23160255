import TestSupport
import Testing

@Suite("Large values", .serialized)
struct LargeValueTests {
    /// Runs a command line from Python, which prints its peak of memory in KiB. The parent's own memory counts until a
    /// child starts its program, so the parent must be small.
    static let measured = """
        python3 -c 'import resource, subprocess, sys
        status = subprocess.run(sys.argv[1:]).returncode
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
        sys.exit(status)'
        """

    @Test("a value streams: it comes back to the byte, and the program's memory does not grow with it")
    func streaming() throws {
        let home = try Home()
        let mebibytes = TestRun.isTorture ? 1024 : 64
        let ending = try home.shell(
            """
            head -c \(mebibytes)M /dev/urandom > value
            \(Self.measured) ld-host set fileSystem/large --stdin < value || exit 1
            \(Self.measured) ld-host get fileSystem/large > back || exit 1
            cmp value back && rm back
            \(Self.measured) ld-host set fileSystem/large --file value || exit 1
            cmp value data/localdata/files/fileSystem@documents/large
            """)
        #expect(ending.status == 0)
        #expect(ending.text == "")
        let peaks = ending.errors.split(separator: "\n").compactMap { Int($0) }
        try #require(peaks.count == 3, "\(ending.errors)")
        for peak in peaks {
            #expect(peak < 48 * 1024)
            // A lower value is impossible, and would mean that the measurement is broken.
            #expect(peak > 1024)
        }
    }

    @Test(
        "a sealed value streams in, out and from one key to another, through one envelope and through two",
        arguments: ["file", "sealed-files"])
    func sealed(_ store: String) throws {
        let home = try Home()
        let mebibytes = TestRun.isTorture ? 1024 : 64
        let ending = try home.shell(
            """
            ld-host config set domains.encryptedFileSystem \(store)
            head -c \(mebibytes)M /dev/urandom > value
            \(Self.measured) ld-host set encryptedFileSystem/large --stdin < value || exit 1
            \(Self.measured) ld-host get encryptedFileSystem/large > back || exit 1
            cmp value back && rm back
            \(Self.measured) ld-host set encryptedFileSystem/large --file value || exit 1
            for store in '' '--store sealed-files'; do
                ld-host keys rotate $store > out
                \(Self.measured) ld-host reseal $store >> resealed || exit 1
            done
            \(Self.measured) ld-host get encryptedFileSystem/large > back || exit 1
            cmp value back
            cut -d' ' -f1-7 resealed
            find data -type f -size +\(mebibytes)M | wc -l
            """)
        #expect(ending.status == 0)
        // The keys of the keychain's store seal the ring of the master keys, too.
        let others = store == "file" ? "1 of 1 value was" : "2 of 2 values were"
        #expect(ending.text == "1 of 1 value was re-encrypted under\n\(others) re-encrypted under\n1\n")
        let peaks = ending.errors.split(separator: "\n").compactMap { Int($0) }
        try #require(peaks.count == 6, "\(ending.errors)")
        print("sealed value of \(mebibytes) MiB in \(store): peaks of memory in KiB \(peaks)")
        for peak in peaks {
            #expect(peak < 64 * 1024)
            #expect(peak > 1024)
        }
    }

    @Test(
        "a value is migrated in pieces, and put back",
        arguments: ["encryptedFileSystem", "userDefaults", "keychain:large"])
    func migrated(_ domain: String) throws {
        let home = try Home()
        let mebibytes = TestRun.isTorture && domain != "userDefaults" ? 1024 : 64
        try home.done(
            "config", "set", "migrations.packs.app",
            """
            {"component": "standard", "options": {"manifest": [
                {"id": "large", "move": {"from": "fileSystem/large*", "to": "\(domain)/large*"}}]}}
            """)
        let ending = try home.shell(
            """
            head -c \(mebibytes)M /dev/urandom > value
            ld-host set fileSystem/large --file value || exit 1
            \(Self.measured) ld-host migrate run || exit 1
            ld-host get \(domain)/large | cmp - value
            ld-host exists fileSystem/large && exit 1
            \(Self.measured) ld-host migrate rollback large 2> said || exit 1
            tail -n 1 said >&2
            ld-host get fileSystem/large | cmp - value
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.text == "large: migrated\n")
        let peaks = ending.errors.split(separator: "\n").compactMap { Int($0) }
        try #require(peaks.count == 2, "\(ending.errors)")
        print("migrated value of \(mebibytes) MiB to \(domain): peaks of memory in KiB \(peaks)")
        for peak in peaks {
            #expect(peak < 56 * 1024)
            #expect(peak > 1024)
        }
    }

    @Test("a large value is never stored in part: a source that fails leaves the old one")
    func failingSource() throws {
        let home = try Home()
        try home.done("set", "fileSystem/large", "old")
        // Opening a folder succeeds; reading it fails.
        let ending = try home.shell("ld-host set fileSystem/large --file /proc/self")
        #expect(ending.status == 2)
        #expect(ending.errors.hasPrefix("ld-host: error: '/proc/self' cannot be read: "))
        #expect(try home.done("get", "fileSystem/large").text == "old")
        #expect(try home.shell("find data -type f | wc -l").text == "1\n")
    }
}
