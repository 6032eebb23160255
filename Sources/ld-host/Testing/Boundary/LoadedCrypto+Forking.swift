internal import CLocalData
internal import FoundationEssentials
internal import Glibc
internal import LocalDataHost

extension LoadedCrypto {
    /// Random bytes that a fork(2) of this process draws. The fork ends by itself if it hangs.
    func drawInCopy(_ size: Int) throws -> Data {
        let shared = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let shared, shared != MAP_FAILED else { throw ConformanceFailure("memory cannot be shared with a fork") }
        defer { munmap(shared, size) }
        let process = fork()
        guard process >= 0 else { throw ConformanceFailure("the process cannot be forked") }
        if process == 0 {
            alarm(10)
            _exit(table.random(table.`self`, shared, size, nil) == LD_OK ? 0 : 1)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        try expect(status == 0, "a fork of the process could not draw random bytes (status \(status))")
        return Data(bytes: shared, count: size)
    }
}
