import Foundation
import Glibc
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("FileLock", .waitsForPrograms)
struct FileLockTests {
    private let scratch: JournalScratch
    private let lock: FileLock

    init() throws {
        scratch = try JournalScratch()
        lock = FileLock("\(scratch.path)/a/b/lock")
    }

    /// Whether another open file could get the lock now.
    private func isFree(_ operation: Int32) -> Bool {
        let descriptor = open(lock.path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        return flock(descriptor, operation | LOCK_NB) == 0
    }

    @Test("can be shared by many, and then nobody holds it exclusively")
    func sharedTogether() throws {
        try lock.shared { (_) throws(StorageError) in
            try lock.shared { (_) throws(StorageError) in
                #expect(isFree(LOCK_SH))
                #expect(!isFree(LOCK_EX))
            }
        }
        #expect(isFree(LOCK_EX))
    }

    @Test("has one exclusive holder, and is free again when the body throws")
    func exclusiveAlone() throws {
        #expect(throws: StorageError.cancelled) {
            try lock.exclusive { (_) throws(StorageError) in
                #expect(!isFree(LOCK_SH))
                #expect(!isFree(LOCK_EX))
                throw StorageError(.cancelled)
            }
        }
        #expect(isFree(LOCK_EX))
    }

    @Test("creates its file for the user alone, and the missing folders")
    func modes() throws {
        #expect(try lock.shared { (file) throws(StorageError) in try file.number() } == 0)
        #expect(JournalScratch.mode(of: lock.path) == 0o600)
        #expect(JournalScratch.mode(of: "\(scratch.path)/a/b") == 0o700)
        #expect(JournalScratch.mode(of: "\(scratch.path)/a") == 0o700)
    }

    @Test("keeps a number for the next holder", arguments: [0, 1, 0x0102_0304_0506_0708, UInt64.max])
    func number(_ number: UInt64) throws {
        try lock.exclusive { (file) throws(StorageError) in
            #expect(try file.number() == 0)
            try file.setNumber(number)
            #expect(try file.number() == number)
        }
        #expect(try lock.shared { (file) throws(StorageError) in try file.number() } == number)
        let bytes = try Data(contentsOf: URL(filePath: lock.path))
        #expect(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } == number && bytes.count == 8)
    }

    @Test("lets the number be changed only under an exclusive lock")
    func sharedNumber() throws {
        let error = #expect(throws: StorageError.self) {
            try lock.shared { (file) throws(StorageError) in try file.setNumber(7) }
        }
        #expect(error?.code == .unsupported)
        #expect(try lock.shared { (file) throws(StorageError) in try file.number() } == 0)
    }

    @Test("ignores part of a first number, whose writer was killed", arguments: [1, 4, 7])
    func partOfNumber(_ count: Int) throws {
        try lock.exclusive { (_) throws(StorageError) in }
        try Data(repeating: 1, count: count).write(to: URL(filePath: lock.path))
        try lock.exclusive { (file) throws(StorageError) in
            #expect(try file.number() == 0)
            try file.setNumber(3)
        }
        #expect(try lock.shared { (file) throws(StorageError) in try file.number() } == 3)
    }

    @Test("refuses a file that does not contain a number", arguments: [9, 100])
    func noNumber(size: Int) throws {
        try lock.exclusive { (_) throws(StorageError) in }
        try Data(repeating: 1, count: size).write(to: URL(filePath: lock.path))
        let error = #expect(throws: StorageError.self) {
            try lock.shared { (file) throws(StorageError) in try file.number() }
        }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(lock.path) == true)
    }

    @Test("loses no change of 16 threads")
    func threads() async throws {
        let lock = lock
        _ = try await JournalScratch.atOnce(16) { _ in
            for _ in 0..<50 {
                try lock.exclusive { (file) throws(StorageError) in
                    let number = try file.number()
                    sched_yield()
                    try file.setNumber(number + 1)
                }
            }
        }
        #expect(try lock.shared { (file) throws(StorageError) in try file.number() } == 800)
    }

    @Test("remains one lock when its file is removed again and again")
    func removed() async throws {
        let lock = lock
        let inside = Occupancy()
        _ = try await JournalScratch.atOnce(8) { index in
            for _ in 0..<50 {
                try lock.exclusive { (_) throws(StorageError) in
                    // Only a holder removes the file. It leaves first, since others may hold the next file.
                    inside.enter()
                    inside.leave()
                    if index % 2 == 0 { unlink(lock.path) }
                }
            }
        }
        #expect(inside.most == 1)
    }

    @Test("loses no change of several processes")
    func processes() async throws {
        let path = lock.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        for _ in 0..<100 {
                            try FileLock(path).exclusive { (file) throws(StorageError) in
                                try file.setNumber(try file.number() + 1)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try lock.shared { (file) throws(StorageError) in try file.number() } == 400)
    }

    @Test("is free again when its holder is killed, with the number as it was left")
    func killed() async throws {
        let path = lock.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try FileLock(path).exclusive { (file) throws(StorageError) in
                try file.setNumber(5)
                kill(getpid(), SIGKILL)
            }
        }
        #expect(try lock.exclusive { (file) throws(StorageError) in try file.number() } == 5)
    }

    @Test("reports where it cannot be created", .enabled(if: geteuid() == 0))
    func refusedAsRoot() async throws {
        let path = lock.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let folder = String(path.dropLast("/a/b/lock".count))
            #expect(chmod(folder, 0o755) == 0)
            #expect(seteuid(65534) == 0)
            for _ in 0..<2 {
                let error = #expect(throws: StorageError.self) { try FileLock(path).shared { _ in } }
                #expect(error?.code == .permissionDenied)
                #expect(error?.message.contains(folder) == true)
            }
            // Sharing an existing lock file takes no right to write.
            #expect(seteuid(0) == 0)
            try FileLock("\(folder)/lock").exclusive { (file) throws(StorageError) in try file.setNumber(3) }
            #expect(chmod("\(folder)/lock", 0o644) == 0)
            #expect(seteuid(65534) == 0)
            let number = try FileLock("\(folder)/lock").shared { (file) throws(StorageError) in try file.number() }
            #expect(number == 3)
            let error = #expect(throws: StorageError.self) { try FileLock("\(folder)/lock").exclusive { _ in } }
            #expect(error?.code == .permissionDenied)
            #expect(error?.message.contains("\(folder)/lock") == true)
        }
    }

    @Test("refuses an irregular file, and names it")
    func noFile() throws {
        try Data().write(to: URL(filePath: "\(scratch.path)/file"))
        #expect(symlink("file", "\(scratch.path)/link") == 0)
        #expect(mkfifo("\(scratch.path)/pipe", 0o600) == 0)
        for name in ["file/lock", "link", "pipe", "."] {
            let lock = FileLock("\(scratch.path)/\(name)")
            let error = #expect(throws: StorageError.self) { try lock.exclusive { _ in } }
            #expect(error?.code == .fileError)
            #expect(error?.message.contains(scratch.path) == true, "\(name)")
        }
    }
}
