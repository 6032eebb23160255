import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import Synchronization
import Testing

@Suite("Watching a SQLite database")
struct WatchTests {
    /// What was told, and a way to wait for it.
    final class Told: Sendable {
        private let names = Mutex<[String?]>([])

        var all: [String?] { names.withLock { $0 } }

        func add(_ name: String?) { names.withLock { $0.append(name) } }

        /// Whether it is told before five seconds are over.
        func hears(_ name: String?) -> Bool {
            let end = ContinuousClock.now + .seconds(5)
            while ContinuousClock.now < end {
                if all.contains(name) { return true }
                usleep(5000)
            }
            return false
        }
    }

    @Test("this process's changes are reported by name, and not again as another process's")
    func own() throws {
        let store = try BuiltStore()
        let told = Told()
        let watch = try store.store.watch(store.place, prefix: "in/") { told.add($0) }
        try store.set("in/a", Data([1]))
        try store.set("out", Data([1]))
        #expect(told.all == ["in/a"])
        // Another store on the same file is somebody else, whose change is found by asking once a second: when that is
        // told, everything before would have been.
        let other = try BuiltStore(in: store.folder)
        #expect(told.all == ["in/a"])
        try other.set("in/b", Data([1]))
        #expect(told.hears(nil))
        #expect(told.all == ["in/a", nil])
        store.store.unwatch(watch)
    }

    @Test("a database that another makes is noticed")
    func made() throws {
        let folder = try TemporaryFolder()
        let (store, other) = (try BuiltStore(in: folder), try BuiltStore(in: folder))
        let told = Told()
        let watch = try store.store.watch(store.place) { told.add($0) }
        try other.set("name", Data([1]))
        #expect(told.hears(nil))
        store.store.unwatch(watch)
    }
}
