import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@Suite("Replacing a file")
struct ReplacingTests {
    private struct GivenUp: Error {}

    private let folder: TemporaryFolder
    private let directory: DurableDirectory
    private let file = RelativePath("a")

    init() throws {
        folder = try TemporaryFolder()
        directory = try DurableDirectory(root: folder.path)
    }

    @Test("keeps the old content and no temporary file when the source fails")
    func sourceGivesUp() throws {
        try directory.replace("a", "old")
        #expect(throws: GivenUp.self) {
            try directory.replace(file) { take in
                try take([UInt8](repeating: 1, count: 300_000).span.bytes)
                throw GivenUp()
            }
        }
        #expect(try directory.text("a") == "old")
        #expect(try folder.entries(".tmp").isEmpty)
    }

    @Test(
        "joins pieces of any size in order",
        arguments: [
            [0], [1], [], [262_143, 2], [262_144], [262_145, 0, 1], [100_000, 100_000, 100_000, 5], [1_000_000, 7],
        ])
    func pieces(sizes: [Int]) throws {
        var expected: [UInt8] = []
        try directory.replace(file) { take in
            for (index, size) in sizes.enumerated() {
                let piece = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) }
                expected += piece
                try take(piece.span.bytes)
            }
        }
        #expect(folder.content("a") == expected)
        var read: [UInt8] = []
        guard let opened = try directory.open(file) else { throw GivenUp() }
        try opened.readPieces { span in
            span.withUnsafeBytes { read += $0 }
            return true
        }
        #expect(read == expected)
    }

    @Test("publishes nothing before the source has returned")
    func nothingEarly() throws {
        try directory.replace(file) { take in
            try take(([1, 2, 3] as [UInt8]).span.bytes)
            #expect(try directory.exists(file) == false)
        }
        #expect(folder.content("a") == [1, 2, 3])
    }

    @Test("shows readers one whole content or the other, from many threads")
    func wholeContents() throws {
        let directory = directory
        let file = file
        let failures = Mutex<[String]>([])
        try directory.replace("a", String(repeating: "x", count: 20_000))
        onThreads(8) { thread in
            do {
                let letter = ["a", "b", "c", "d"][thread % 4]
                for round in 0..<30 {
                    if thread < 4 {
                        try directory.replace(file, String(repeating: letter, count: 10_000 + 1_000 * thread + round))
                    }
                    for _ in 0..<20 {
                        guard let text = try directory.text(file) else { throw GivenUp() }
                        guard text.utf8.count >= 10_000, Set(text.utf8).count == 1 else { throw GivenUp() }
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try folder.entries(".tmp").isEmpty)
    }

    @Test("lets a reader finish the file that it has opened")
    func openFileStays() throws {
        try directory.replace("a", "old")
        guard let opened = try directory.open(file) else { throw GivenUp() }
        try directory.replace("a", "new content")
        var read = ""
        try opened.read { span in read = span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
        #expect(read == "old")
    }

    @Test(
        "refuses an irregular file, and leaves it as it is",
        arguments: [FileKind.directory, .symbolicLink, .pipe, .socket])
    func otherKinds(kind: FileKind) throws {
        try Data("target".utf8).write(to: URL(filePath: folder.path + "/target"))
        let path = folder.path + "/a"
        switch kind {
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .symbolicLink: #expect(symlink("target", path) == 0)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        default: #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        }
        for attempt in [
            { _ = try directory.text("a") },
            { _ = try directory.exists(file) },
            { try directory.replace("a", "new") },
            { _ = try directory.remove(file) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self) { try attempt() }
            #expect(error?.message == "'\(path)' is \(kind.rawValue), expected a regular file")
            #expect(error?.cause == .irregularFile(kind: kind.rawValue))
        }
        #expect(folder.content("target") == Array("target".utf8))
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(try folder.entries().filter { $0 != ".tmp" } == ["a", "target"])
    }

    @Test("keeps the old content when the system refuses the new one")
    func systemRefuses() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let directory = try DurableDirectory(root: folder.path)
            try directory.replace("a", "old")
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 10_000, rlim_max: 1_000_000)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let error = #expect(throws: StorageError.self) {
                try directory.replace("a", String(repeating: "x", count: 10_001))
            }
            #expect(error?.message.contains("the old state is kept") == true)
            #expect(error?.systemError == EFBIG)
            let ignored = #expect(throws: StorageError.self) {
                try directory.replace(RelativePath("a")) { take in
                    try? take([UInt8](repeating: 1, count: 300_000).span.bytes)
                    // Later writes would succeed; the lost bytes stay lost.
                    limit.rlim_cur = limit.rlim_max
                    #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                    try take([UInt8](repeating: 1, count: 100).span.bytes)
                }
            }
            #expect(ignored?.systemError == EFBIG)
            #expect(try directory.text("a") == "old")
            #expect(try folder.entries(".tmp").isEmpty)
        }
    }

    @Test("reports refused access in a folder of another user", .enabled(if: geteuid() == 0))
    func noAccessAsRoot() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let directory = try DurableDirectory(root: folder.path)
            try directory.replace("a", "old")
            #expect(chmod(folder.path, 0o755) == 0)
            #expect(seteuid(65534) == 0)
            let write = #expect(throws: StorageError.self) { try directory.replace("a", "new") }
            #expect(write?.systemError == EACCES)
            #expect(write?.message.contains("the old state is kept") == true)
            let removal = #expect(throws: StorageError.self) { try directory.remove(RelativePath("a")) }
            #expect(removal?.systemError == EACCES)
            let read = #expect(throws: StorageError.self) { try directory.text("a") }
            #expect(read?.systemError == EACCES)
            #expect(seteuid(0) == 0)
            #expect(try directory.text("a") == "old")
        }
    }
}
