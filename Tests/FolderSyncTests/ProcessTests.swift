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

    @Test("two processes notify each other of what they publish, and fetch it")
    func conversation() throws {
        let path = folder.path
        let times = Recorder<Duration>()
        let failures = Recorder<String>()
        onThreads(2) { thread in
            do {
                if thread == 1 {
                    _ = try ProcessSteps.run("answer", path)
                } else {
                    try ask(200, in: path, times)
                }
            } catch { failures.add("\(error)") }
        }
        #expect(failures.all == [])
        let sorted = times.all.sorted()
        try #require(sorted.count == 200)
        print("folder: a question and its answer take \(sorted[100]) between two processes, median of 200")
    }

    /// Publishes records as the writer `a` and waits for an answer to each.
    private func ask(_ count: Int, in folder: String, _ times: Recorder<Duration>) throws {
        let transport = try FolderSync.open(folder)
        let notices = Recorder<SyncNotice>()
        let subscription = try transport.subscribe { notices.add($0) }
        defer { transport.unsubscribe(subscription) }
        var position: Data?
        for number in 0..<count {
            let start = ContinuousClock.now
            let question = Numbered("a", "n\(number % 10)", number).record(200)
            try transport.publish(question)
            var isAnswered = false
            while !isAnswered {
                let (records, next) = try transport.all(since: position)
                position = next
                isAnswered = records.contains { $0.writer == "b" && $0.content == question.content }
                if !isAnswered, notices.take(through: { _ in true }) == nil { throw TestFailure("no notice came") }
            }
            times.add(ContinuousClock.now - start)
        }
        try transport.publish(SyncRecord(writer: "a", name: "end", content: Data()))
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
            // Whenever the call begins, another of these follows.
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
