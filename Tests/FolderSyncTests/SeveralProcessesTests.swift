import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import FolderSync

@Suite("FolderSync in several processes", .enabled(if: !ProcessSteps.isRunning))
struct ProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("two processes of one device publish as one writer: nothing is lost, and each one's order is kept")
    func twoPublishers() throws {
        let failures = Recorder<String>()
        let path = folder.path
        onThreads(2) { thread in
            do { _ = try ProcessSteps.run("publish", path, "p\(thread)") } catch { failures.add("\(error)") }
        }
        #expect(failures.all == [])
        for _ in 0..<2 {
            var replica = Replica("reader")
            try replica.fetch(from: FolderSync.open(path))
            let newest = replica.newest["a"] ?? [:]
            #expect(newest.count == 14)
            for (name, number) in newest { #expect(name.hasSuffix("-\(number % 7)") && number > 200 - 7) }
            try FolderSync.open(path).publish(Numbered("a", "p0-4", 200).record())
        }
    }

    @Test("100,000 records are published, compacted and fetched in bounded memory")
    func bounded() throws {
        let grown = try Int(ProcessSteps.run("stream", folder.path))
        #expect(try #require(grown) < 96, "of 150 MB of records")
    }

    @Test("a publication waits for the lock of another process, until cancel")
    func cancelled() throws {
        let transport = try FolderSync.open(folder.path)
        try transport.publish(Numbered("a", "n", 1).record())
        let descriptor = open("\(folder.path)/a", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(descriptor, LOCK_EX) == 0)
        let outcome = Recorder<Bool>()
        let path = folder.path
        let begun = Gate()
        onThreads(2) { thread in
            if thread == 0 {
                begun.open()
                do {
                    try transport.publish(Numbered("a", "n", 2).record())
                    outcome.add(false)
                } catch { outcome.add((error as? StorageError)?.code == .cancelled) }
                return
            }
            begun.wait()
            // Whenever the call begins, one of these comes after that.
            while outcome.all.isEmpty {
                transport.cancel()
                usleep(1000)
            }
        }
        #expect(outcome.all == [true])
        flock(descriptor, LOCK_UN)
        close(descriptor)
        try transport.publish(Numbered("a", "n", 3).record())
        #expect(try FolderSync.open(path).numbers() == [1, 3])
    }
}
