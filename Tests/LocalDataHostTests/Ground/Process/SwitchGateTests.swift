import Foundation
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostGround

/// The gate that holds writers, as two programs see it: each has opened the page for itself.
@Suite("The gate for switching stores", .serialized) struct SwitchGateTests {
    private let folder: String
    private let pages: (SharedPage, SharedPage)
    private let writers: SwitchGate
    private let switcher: SwitchGate

    init() throws {
        folder = try TemporaryFolder.make(named: "localdata-gate")
        pages = (SharedPage(in: folder), SharedPage(in: folder))
        (writers, switcher) = (SwitchGate(pages.0), SwitchGate(pages.1))
    }

    private func keep(_ gate: SwitchGate, _ limit: Duration) throws -> SwitchGate.Keeper {
        try gate.keep(GatedStores([1, 2]), in: folder, within: limit)
    }

    private func end() { try? FileManager.default.removeItem(atPath: folder) }

    /// Makes a change on a thread of its own.
    private func change(_ gate: SwitchGate, _ store: UInt64 = 1) -> Task<Bool, any Error> {
        Task.detached {
            try await onThread { () throws(StorageError) in
                let pass = try gate.enter(store)
                gate.leave(pass)
                return pass.isTracked
            }
        }
    }

    @Test("a change is noted only while a store is switched, and waits only while the gate is closed")
    func modes() async throws {
        defer { end() }
        #expect(try await !change(writers).value)
        do {
            let keeper = try keep(switcher, .seconds(1))
            #expect(try await !change(writers).value)
            try keeper.track(within: .seconds(1))
            #expect(try await change(writers).value)
            try keeper.close(within: .seconds(1))
            let waiting = change(writers)
            try await Task.sleep(for: .milliseconds(50))
            let isInside = try keeper.working { () throws(StorageError) in switcher.outerPass != nil }
            #expect(isInside)
            keeper.open()
            #expect(try await !waiting.value)
        }
        #expect(try await !change(writers).value)
    }

    @Test("a change that began before is waited for, whichever step it began in")
    func earlier() throws {
        defer { end() }
        // Each attempt takes steps, and covers every second one.
        for _ in 0..<3 {
            let pass = try writers.enter(1)
            for _ in 0..<4 {
                let error = #expect(throws: StorageError.self) { _ = try keep(switcher, .milliseconds(20)) }
                #expect(error?.code == .busy)
            }
            writers.leave(pass)
            _ = try keep(switcher, .seconds(1))
        }
    }

    @Test("if a change does not end in time the gate is not closed, and the next change goes on")
    func slow() async throws {
        defer { end() }
        let keeper = try keep(switcher, .seconds(1))
        try keeper.track(within: .seconds(1))
        let pass = try writers.enter(1)
        let error = #expect(throws: StorageError.self) { try keeper.close(within: .milliseconds(30)) }
        #expect(error?.code == .busy && error?.message.contains("process \(getpid()) has been changing") == true)
        #expect(try await change(writers).value)
        writers.leave(pass)
        try keeper.close(within: .seconds(1))
    }

    @Test("what a killed writer has left holds nobody")
    func killedWriter() throws {
        defer { end() }
        _ = try writers.enter(1)
        // The system gives up the locks of a process that ends.
        for byte in 8192..<16384 { pages.0.letGo(byte: byte) }
        let keeper = try keep(switcher, .seconds(1))
        try keeper.close(within: .seconds(1))
        // The slot is taken over.
        keeper.open()
        let next = SwitchGate(SharedPage(in: folder))
        next.leave(try next.enter(1))
        try keeper.close(within: .seconds(1))
    }

    @Test("a gate whose keeper was killed is opened by the next writer, which looks at the configuration first")
    func killedKeeper() async throws {
        defer { end() }
        let keeper = try keep(switcher, .seconds(1))
        try keeper.close(within: .seconds(1))
        let number = ConfigurationPage(pages.0).number
        let waiting = change(writers)
        try await Task.sleep(for: .milliseconds(30))
        #expect(ConfigurationPage(pages.0).number == number)
        for byte in [0, SteadyLock.scope(of: folder)] { pages.1.letGo(byte: Int(byte)) }
        #expect(try await !waiting.value)
        #expect(ConfigurationPage(pages.0).number > number)
        // The next one takes over.
        let other = SwitchGate(SharedPage(in: folder))
        let next = try keep(other, .seconds(1))
        try next.track(within: .seconds(1))
    }

    @Test("only one switches at a time, of two programs and of two threads")
    func alone() throws {
        defer { end() }
        let keeper = try keep(switcher, .seconds(1))
        for gate in [switcher, writers] {
            let error = #expect(throws: StorageError.self) { _ = try keep(gate, .milliseconds(20)) }
            #expect(error?.code == .busy && error?.message.contains("process \(getpid()) is switching") == true)
        }
        keeper.open()
    }

    @Test("work on whole stores and a switch exclude each other, of two programs and of two threads")
    func steadily() async throws {
        defer { end() }
        let third = SwitchGate(SharedPage(in: folder))
        do {
            let work = try steadyWork(writers)
            // Others may work, too; one who switches waits.
            for gate in [writers, third] { _ = try steadyWork(gate) }
            for gate in [writers, switcher] {
                let error = #expect(throws: StorageError.self) { _ = try keep(gate, .milliseconds(20)) }
                #expect(error?.code == .busy)
                #expect(error?.message.contains("process \(getpid()) is migrating, copying") == true)
            }
            withExtendedLifetime(work) {}
        }
        let order = Mutex<[String]>([])
        let waiting: Task<Void, any Error>
        do {
            let keeper = try keep(switcher, .seconds(1))
            waiting = Task.detached {
                try await onThread { () throws(StorageError) in
                    let work = try steadyWork(writers)
                    order.withLock { $0.append("work") }
                    withExtendedLifetime(work) {}
                }
            }
            try await Task.sleep(for: .milliseconds(50))
            order.withLock { $0.append("switch") }
            keeper.open()
        }
        try await waiting.value
        #expect(order.withLock { $0 } == ["switch", "work"])
        _ = try keep(switcher, .seconds(1))
    }

    private func steadyWork(_ gate: SwitchGate, _ folder: String? = nil) throws(StorageError) -> SteadyWork {
        try SteadyWork(gate.steady, in: folder ?? self.folder, within: .seconds(10))
    }

    @Test("work on the stores of another state folder, and a stuck change of another store, hold no switch up")
    func others() async throws {
        defer { end() }
        let work = try steadyWork(writers, "\(folder)/other")
        // Another spelling of a folder is the same one, also before it exists.
        let link = "\(folder)/link"
        try #require(symlink(folder, link) == 0)
        #expect(SteadyLock.scope(of: "\(link)/other") == SteadyLock.scope(of: "\(folder)//other/"))
        let stuck = try writers.enter(3)
        do {
            let keeper = try keep(switcher, .seconds(1))
            try keeper.track(within: .seconds(1))
            #expect(try await change(writers, 2).value)
            #expect(try await !change(writers, 3).value)
            try keeper.close(within: .seconds(1))
            // Changes of other stores go on while the gate is closed.
            #expect(try await !change(writers, 3).value)
            let waiting = change(writers, 2)
            try await Task.sleep(for: .milliseconds(30))
            keeper.open()
            #expect(try await !waiting.value)
        }
        let keeper = try switcher.keep(GatedStores([1, 4]), in: folder, within: .seconds(1))
        keeper.open()
        let error = #expect(throws: StorageError.self) {
            _ = try switcher.keep(GatedStores([3]), in: "\(folder)/other folder", within: .milliseconds(20))
        }
        #expect(error?.code == .busy)
        writers.leave(stuck)
        withExtendedLifetime(work) {}
    }

    @Test("a change whose stores are not known when it begins is waited for by each switch")
    func unknown() async throws {
        defer { end() }
        let pass = try writers.enter(0)
        #expect(throws: StorageError.self) { _ = try keep(switcher, .milliseconds(20)) }
        writers.leave(pass)
        let keeper = try keep(switcher, .seconds(1))
        try keeper.track(within: .seconds(1))
        #expect(try await change(writers, 0).value)
        // Two stores may have one number.
        #expect(try await change(writers, 33).value)
    }

    @Test("changes that belong together pass once, also where the gate closes meanwhile")
    func together() throws {
        defer { end() }
        let keeper = try keep(switcher, .seconds(1))
        try writers.inside { () throws(StorageError) in
            #expect(writers.outerPass?.isTracked == false)
            #expect(throws: StorageError.self) { try keeper.close(within: .milliseconds(20)) }
            try writers.inside { () throws(StorageError) in #expect(writers.outerPass?.isTracked == false) }
        }
        #expect(writers.outerPass == nil)
    }

    @Test("changes are noted whole and once, and a log that nobody reads takes none")
    func log() throws {
        defer { end() }
        let log = ChangeLog(beside: pages.0)
        let place = StorageNamespace(domain: "userDefaults", scope: "a\nb", directory: "/x/y")
        let addresses = ["", "k", "ü/\u{1}"].map { StorageAddress(place, name: $0) }
        try log.note(addresses, in: 7)
        do {
            var reader = try ChangeLog(beside: pages.1).begin()
            #expect(try reader.next().isEmpty)
            try log.note(addresses, in: 7)
            try log.note([addresses[0]], in: 7)
            try log.note([addresses[0]], in: 8)
            let found = try reader.next()
            #expect(
                found
                    == Set(
                        addresses.map { ChangeLog.Entry(store: 7, address: $0) } + [
                            .init(store: 8, address: addresses[0])
                        ]))
            #expect(found.first?.address.place.directory == "/x/y")
            #expect(try reader.next().isEmpty)
        }
        try log.note(addresses, in: 7)
        // A new log begins empty, and is the one that is written to from then on.
        var next = try ChangeLog(beside: pages.1).begin()
        try log.note([addresses[1]], in: 9)
        #expect(try next.next() == [ChangeLog.Entry(store: 9, address: addresses[1])])
        let file = try FileHandle(forWritingTo: URL(filePath: "\(pages.0.path).changes"))
        try file.seekToEnd()
        try file.write(contentsOf: Data([3, 0, 0, 0, 1, 2, 3]))
        let error = #expect(throws: StorageError.self) { try next.next() }
        #expect(error?.code == .corrupt)
    }
}

/// Runs `body` on a thread of its own.
private func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws(StorageError) -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
    }
}
