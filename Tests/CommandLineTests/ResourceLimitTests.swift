import Testing

@Suite("Limits that are too low for the program") struct ResourceLimitTests {
    @Test(
        "are refused with a clear message",
        arguments: [
            ("ulimit -n 5", "this process may have 5 files open; expected 32 or more"),
            ("ulimit -v 100000", "this process may use 97 MiB of address space; expected 192 MiB or more"),
        ])
    func refused(_ limit: String, _ message: String) throws {
        let ending = try Home().shell("\(limit); exec ld-host ls")
        #expect(ending.status == 2)
        #expect(ending.errors.contains(message), "\(ending.errors)")
    }

    @Test("are raised if that is allowed")
    func raised() throws {
        let ending = try Home().shell("ulimit -S -n 5; exec ld-host ls")
        #expect(ending.status == 0, "\(ending.errors)")
    }
}
