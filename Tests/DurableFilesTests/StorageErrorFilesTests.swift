@testable import DurableFiles
import Glibc
import LocalDataAPI
import Testing

@Suite("StorageError of a file operation")
struct StorageErrorFilesTests {
    @Test("names the call, the paths, and the system's text and symbol")
    func description() {
        let error = StorageError(system: ENOSPC, "rename", path: "/a/.tmp/x", to: "/a/b")
        #expect(error.message == "cannot rename '/a/.tmp/x' to '/a/b': no space left on device (ENOSPC)")
        #expect(error.code == .noSpace)
        #expect(error.cause == .systemCall(ENOSPC))
        #expect(
            StorageError(system: EACCES, "open", path: "/a").message == "cannot open '/a': permission denied (EACCES)")
    }

    @Test("shows a number that the system has no text for")
    func unknownNumber() {
        #expect(StorageError(system: 12345, "open", path: "/a").message == "cannot open '/a': error 12345")
    }

    @Test("asks which user put an untrusted file there, and keeps the number")
    func distrust() {
        let error = StorageError(system: EPERM, "write to", path: "/a", detail: "other users may write to the folder")
        #expect(error.cause == .distrust(EPERM))
        #expect(error.systemError == EPERM)
        #expect(error.hint == "find out which user put it there, and remove it")
        #expect(StorageError(system: EPERM, "write to", path: "/a").cause == .systemCall(EPERM))
    }

    @Test("states the result after a change that failed")
    func outcomes() {
        let cause = StorageError(system: EIO, "synchronize", path: "/a")
        let before = cause.failing(.replace, of: "/a/b")
        #expect(before.message.hasPrefix("cannot replace '/a/b', the old state is kept: cannot synchronize"))
        #expect(before.code == .fileError)
        let after = cause.afterChange(.remove, of: "/a/b")
        #expect(after.message.hasPrefix("'/a/b' is removed, but that may not survive a power loss: cannot"))
        #expect(after.code == .durabilityUnknown)
        #expect(after.failing(.remove, of: "/a/b").message == after.message, "the outcome is stated once")
    }

    @Test("states what readers find after a failed batch, and the reason in one sentence")
    func batches() {
        let call = StorageError(system: ENOSPC, "write", path: "/a/.batch/.tmp/1")
        let error = call.failing(.replace, of: "/a/.batch/1").failing(.unchanged, journal: "/a/.batch/journal")
        #expect(
            error.message == "cannot apply a batch, nothing has changed: cannot write '/a/.batch/.tmp/1': "
                + "no space left on device (ENOSPC)")
        #expect(error.code == .noSpace)
        #expect(call.failing(.incomplete, journal: "/a/.batch/journal").code == .durabilityUnknown)
        let damaged = StorageError(system: EBADMSG, "read", path: "/a/.batch/journal")
        #expect(damaged.failing(.blocked, journal: "/a/.batch/journal").hint.contains("--repair"))
    }
}
