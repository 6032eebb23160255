internal import CLinux

/// What a program allocates once and needs until it ends.
enum LastingMemory {
    /// Runs `body`, whose allocations the leak sanitizer does not report: it follows plain pointers, and in those that
    /// enumerations and strings hold, Swift keeps other bits, too.
    static func make<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        ld_linux_ignore_leaks(1)
        defer { ld_linux_ignore_leaks(0) }
        return try body()
    }
}
