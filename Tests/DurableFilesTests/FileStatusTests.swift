import Glibc
import Testing
@testable import DurableFiles

@Suite("The status of a file")
struct FileStatusTests {
    /// The status of a file that changed this long ago, in nanoseconds, with only whole steps of the file system.
    private func status(changed age: Int, step: Int) -> FileStatus {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let time = (now.tv_sec * 1_000_000_000 + now.tv_nsec - age) / step * step
        var status = stat()
        // No whole second by chance.
        let rest = step < 1_000_000_000 ? max(1, time % 1_000_000_000) : 0
        status.st_ctim = timespec(tv_sec: time / 1_000_000_000, tv_nsec: rest)
        return FileStatus(status)
    }

    @Test(
        "is recent as long as a next change may leave the same times",
        arguments: [
            (0, 1, true), (50_000_000, 4_000_000, true), (150_000_000, 1, false), (150_000_000, 4_000_000, false),
            (0, 1_000_000_000, true), (900_000_000, 1_000_000_000, true), (0, 2_000_000_000, true),
            (2_200_000_000, 1_000_000_000, false), (2_200_000_000, 2_000_000_000, false),
            (-60_000_000_000, 1, true),
        ])
    func recent(age: Int, step: Int, isRecent: Bool) {
        #expect(status(changed: age, step: step).isRecent == isRecent)
    }
}
