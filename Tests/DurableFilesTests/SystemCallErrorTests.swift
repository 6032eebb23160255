import DurableFiles
import Glibc
import Testing

@Suite("SystemCallError")
struct SystemCallErrorTests {
    @Test("names the call, the paths, and the system's text and symbol")
    func description() {
        let error = SystemCallError(ENOSPC, "rename", path: "/a/.tmp/x", to: "/a/b")
        #expect(
            error.description == "cannot rename '/a/.tmp/x' to '/a/b': no space left on device (ENOSPC)")
        #expect(
            SystemCallError(EACCES, "open", path: "/a").description == "cannot open '/a': permission denied (EACCES)")
    }

    @Test("shows a number that the system has no text for")
    func unknownNumber() {
        #expect(SystemCallError(12345, "open", path: "/a").description == "cannot open '/a': error 12345")
    }

    @Test("says what holds after a change that failed")
    func outcomes() {
        let cause = SystemCallError(EIO, "synchronize", path: "/a")
        let before = DurableChangeError(.replace, path: "/a/b", outcome: .unchanged, cause: cause)
        #expect(before.description.hasPrefix("cannot replace '/a/b', the old state is kept: cannot synchronize"))
        let after = DurableChangeError(.remove, path: "/a/b", outcome: .durabilityUnknown, cause: cause)
        #expect(after.description.hasPrefix("'/a/b' is removed, but that may not survive a power loss: cannot"))
    }
}
