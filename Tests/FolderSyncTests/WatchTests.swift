import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import FolderSync

@Suite("Notifications of FolderSync")
struct WatchTests {
    private let folder: TemporaryFolder
    private let transport: FolderSync
    private let notices = Recorder<SyncNotice>()

    init() throws {
        folder = try TemporaryFolder()
        transport = try FolderSync.open("\(folder.path)/shared", poll: 3600)
    }

    private func subscribe(to transport: FolderSync) throws -> FolderSubscription {
        let notices = notices
        return try transport.subscribe { notices.add($0) }
    }

    private func wait(for notice: SyncNotice) -> Bool { notices.take { $0 == notice } != nil }

    @Test("an own publication, another process's, and a file that is copied there are reported")
    func changes() throws {
        try TemporaryFolder.makeFolder("\(folder.path)/shared")
        let subscription = try subscribe(to: transport)
        defer { transport.unsubscribe(subscription) }
        #expect(wait(for: .reachable))
        try transport.publish(Numbered("a", "n", 1).record())
        #expect(wait(for: .changed))
        let other = try FolderSync.open("\(folder.path)/shared")
        for number in 2...4 {
            let start = ContinuousClock.now
            try other.publish(Numbered("b", "n", number).record())
            #expect(wait(for: .changed))
            #expect(ContinuousClock.now - start < .seconds(30), "noticed by nothing but a look")
        }
        try TemporaryFolder.makeFolder("\(folder.path)/shared/c")
        try folder.write([1, 2, 3], to: "shared/c/x.tmp")
        #expect(rename("\(folder.path)/shared/c/x.tmp", "\(folder.path)/shared/c/y") == 0)
        #expect(wait(for: .changed))
    }

    @Test("a folder that appears and disappears is reported, and calls report when it is missing")
    func reachability() throws {
        let shared = "\(folder.path)/shared"
        let subscription = try subscribe(to: transport)
        defer { transport.unsubscribe(subscription) }
        #expect(wait(for: .unreachable))
        let error = #expect(throws: StorageError.self) { try transport.publish(Numbered("a", "n", 1).record()) }
        #expect(error?.code == .storeUnavailable && error?.description.contains(shared) == true)
        #expect(throws: StorageError.storeUnavailable) { try transport.all() }
        #expect(!folder.exists("shared"))
        try TemporaryFolder.makeFolder(shared)
        #expect(wait(for: .reachable))
        try transport.publish(Numbered("a", "n", 1).record())
        #expect(rename(shared, "\(folder.path)/away") == 0)
        #expect(wait(for: .unreachable))
        #expect(throws: StorageError.storeUnavailable) { try transport.publish(Numbered("a", "n", 2).record()) }
        #expect(rename("\(folder.path)/away", shared) == 0)
        #expect(wait(for: .reachable))
        try transport.publish(Numbered("a", "n", 3).record())
        #expect(try transport.numbers() == [1, 3])
    }

    @Test("changes that the system does not report are found by polling")
    func poll() throws {
        try TemporaryFolder.makeFolder("\(folder.path)/shared/a")
        // As on NFS, where inotify(7) does not report changes by other machines.
        let transport = try FolderSync.open("\(folder.path)/shared", poll: 1)
        let thread = try FolderWatchThread(
            transport.folder, poll: 1, watches: false, log: { _ in }, tell: { [notices] in notices.add($0) })
        defer { thread.end() }
        #expect(wait(for: .reachable))
        try FolderSync.open("\(folder.path)/shared").publish(Numbered("a", "n", 1).record())
        #expect(wait(for: .changed))
    }

    @Test("without its marker the folder counts as unmounted")
    func marker() throws {
        try TemporaryFolder.makeFolder("\(folder.path)/shared")
        let transport = try FolderSync.open("\(folder.path)/shared", marker: ".stfolder")
        let subscription = try subscribe(to: transport)
        defer { transport.unsubscribe(subscription) }
        #expect(wait(for: .unreachable))
        #expect(throws: StorageError.storeUnavailable) { try transport.publish(Numbered("a", "n", 1).record()) }
        try TemporaryFolder.makeFolder("\(folder.path)/shared/.stfolder")
        // The system does not report a mount, but it reports the next file.
        try folder.write([1], to: "shared/file")
        #expect(wait(for: .reachable))
        try transport.publish(Numbered("a", "n", 1).record())
    }

    @Test("after unsubscribe no notification is running or follows; others continue")
    func unsubscribe() throws {
        try TemporaryFolder.makeFolder("\(folder.path)/shared")
        let others = Recorder<SyncNotice>()
        let other = try transport.subscribe { others.add($0) }
        for _ in 0..<50 {
            let isOver = MutexBox(false)
            let wrong = Counter()
            let subscription = try transport.subscribe { _ in isOver.withLock { if $0 { wrong.add() } } }
            try transport.publish(Numbered("a", "n", 1).record())
            transport.unsubscribe(subscription)
            isOver.withLock { $0 = true }
            try transport.publish(Numbered("a", "n", 2).record())
            #expect(wrong.value == 0)
        }
        #expect(others.take { $0 == .changed } != nil)
        transport.unsubscribe(other)
    }
}
