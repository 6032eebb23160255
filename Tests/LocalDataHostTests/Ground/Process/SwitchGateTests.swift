import Foundation
import LocalDataAPI
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

    private func end() { try? FileManager.default.removeItem(atPath: folder) }

    /// Makes a change on a thread of its own.
    private func change(_ gate: SwitchGate) -> Task<Bool, any Error> {
        Task.detached {
            try await withCheckedThrowingContinuation { continuation in
                Thread {
                    continuation.resume(
                        with: Result {
                            let pass = try gate.enter()
                            gate.leave(pass)
                            return pass.isTracked
                        })
                }.start()
            }
        }
    }

    @Test("a change is noted only while a store is switched, and waits only while the gate is closed")
    func modes() async throws {
        defer { end() }
        #expect(try await !change(writers).value)
        do {
            let keeper = try switcher.keep(within: .seconds(1))
            #expect(try await !change(writers).value)
            let step1 = keeper.track(within: .seconds(1))
            #expect(step1)
            #expect(try await change(writers).value)
            let step2 = keeper.close(within: .seconds(1))
            #expect(step2)
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
            let pass = try writers.enter()
            for _ in 0..<4 {
                let error = #expect(throws: StorageError.self) { _ = try switcher.keep(within: .milliseconds(20)) }
                #expect(error?.code == .busy)
            }
            writers.leave(pass)
            _ = try switcher.keep(within: .seconds(1))
        }
    }

    @Test("if a change does not end in time the gate is not closed, and the next change goes on")
    func slow() async throws {
        defer { end() }
        let keeper = try switcher.keep(within: .seconds(1))
        let step3 = keeper.track(within: .seconds(1))
        #expect(step3)
        let pass = try writers.enter()
        let step4 = keeper.close(within: .milliseconds(30))
        #expect(!step4)
        #expect(try await change(writers).value)
        writers.leave(pass)
        let step5 = keeper.close(within: .seconds(1))
        #expect(step5)
    }

    @Test("what a killed writer has left holds nobody")
    func killedWriter() throws {
        defer { end() }
        _ = try writers.enter()
        // The system gives up the locks of a process that ends.
        for byte in 4096..<8192 { pages.0.letGo(byte: byte) }
        let keeper = try switcher.keep(within: .seconds(1))
        let step6 = keeper.close(within: .seconds(1))
        #expect(step6)
        // The slot is taken over.
        keeper.open()
        let next = SwitchGate(SharedPage(in: folder))
        next.leave(try next.enter())
        let step7 = keeper.close(within: .seconds(1))
        #expect(step7)
    }

    @Test("a gate whose keeper was killed is opened by the next writer, which looks at the configuration first")
    func killedKeeper() async throws {
        defer { end() }
        let keeper = try switcher.keep(within: .seconds(1))
        let step8 = keeper.close(within: .seconds(1))
        #expect(step8)
        let number = ConfigurationPage(pages.0).number
        let waiting = change(writers)
        try await Task.sleep(for: .milliseconds(30))
        #expect(ConfigurationPage(pages.0).number == number)
        pages.1.letGo(byte: 0)
        #expect(try await !waiting.value)
        #expect(ConfigurationPage(pages.0).number > number)
        // The next one takes over.
        let other = SwitchGate(SharedPage(in: folder))
        let next = try other.keep(within: .seconds(1))
        let isTracked = next.track(within: .seconds(1))
        #expect(isTracked)
    }

    @Test("only one switches at a time, of two programs and of two threads")
    func alone() throws {
        defer { end() }
        let keeper = try switcher.keep(within: .seconds(1))
        for gate in [switcher, writers] {
            let error = #expect(throws: StorageError.self) { _ = try gate.keep(within: .milliseconds(20)) }
            #expect(error?.code == .busy && error?.message.contains("process \(getpid()) is switching") == true)
        }
        keeper.open()
    }

    @Test("changes that belong together pass once, also where the gate closes meanwhile")
    func together() throws {
        defer { end() }
        let keeper = try switcher.keep(within: .seconds(1))
        try writers.inside { () throws(StorageError) in
            #expect(writers.outerPass?.isTracked == false)
            let step9 = keeper.close(within: .milliseconds(20))
            #expect(!step9)
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
