import Testing

@Suite("Large values", .serialized)
struct LargeValueTests {
    /// Runs a command line in Python's hands, which prints the peak of its memory in KiB. The parent's own memory counts
    /// until a child has begun its program, so the parent must be a small one.
    private static let measured = """
        python3 -c 'import resource, subprocess, sys
        status = subprocess.run(sys.argv[1:]).returncode
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
        sys.exit(status)'
        """

    @Test("a value streams: it comes back to the byte, and the program's memory does not grow with it")
    func streaming() throws {
        let home = try Home()
        let mebibytes = BuiltProducts.isTorture ? 1024 : 64
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
            // Less is not possible: the measurement itself would be at fault.
            #expect(peak > 1024)
        }
    }

    @Test("a large value cannot be had in part: a source that fails leaves the old one")
    func failingSource() throws {
        let home = try Home()
        try home.done("set", "fileSystem/large", "old")
        let ending = try home.shell("ld-host set fileSystem/large --file /proc/self/mem")
        #expect(ending.status == 2)
        #expect(ending.errors.hasPrefix("ld-host: error: '/proc/self/mem' cannot be read: "))
        #expect(try home.done("get", "fileSystem/large").text == "old")
        #expect(try home.shell("find data -type f | wc -l").text == "1\n")
    }
}
