import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization

/// A store whose calls take time, and that reports its observations under reserved names: `peak`, the largest number of
/// concurrent calls; `writer`, the thread of the last `set`; `reader`, the thread of this `get`. `exists` of `waits`
/// takes as long as a `get`. Resolving `open` ends all waiting.
final class SleepyStore: StorageBackend {
    static let component = ComponentInfo(
        id: "sleepy", summary: "a store whose calls take time",
        options: [
            .integer("latency", default: 2, help: "the latency class"),
            .integer("milliseconds", default: 0, help: "how long a get takes"),
        ])

    let properties: StoreProperties
    private let milliseconds: Int64
    private let running = Atomic<Int>(0)
    private let peak = Atomic<Int>(0)
    private let writer = Atomic<UInt>(0)
    private let isOpen = Atomic<Bool>(false)
    private let values: FullStore

    init(options: ComponentOptions, host: HostServices) throws {
        let latency = StoreProperties.Latency(rawValue: UInt32(clamping: try options.integer("latency"))) ?? .network
        properties = StoreProperties(latency: latency, isDurable: false, isShared: false)
        milliseconds = try options.integer("milliseconds")
        values = FullStore(options: options, host: host)
    }

    func resolve(_ address: StorageAddress) -> StorageAddress {
        if address.name == "open" { isOpen.store(true, ordering: .relaxed) }
        return address
    }

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
        switch key.name {
        case "peak": return tell(peak.load(ordering: .relaxed), deliver)
        case "writer": return tell(writer.load(ordering: .relaxed), deliver)
        case "reader": return tell(UInt(pthread_self()), deliver)
        case "times out": throw StorageError.timedOut
        case "is cancelled": throw StorageError.cancelled
        default: break
        }
        let now = running.add(1, ordering: .relaxed).newValue
        defer { running.subtract(1, ordering: .relaxed) }
        peak.max(now, ordering: .relaxed)
        sleep()
        return values.get(key, deliver)
    }

    func exists(_ key: StorageAddress) -> Bool {
        if key.name == "waits" { sleep() }
        return values.exists(key)
    }

    private func sleep() {
        let end = SuspendingClock.now + .milliseconds(milliseconds)
        while SuspendingClock.now < end, !isOpen.load(ordering: .relaxed) { usleep(1000) }
    }

    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) {
        writer.store(UInt(pthread_self()), ordering: .relaxed)
        values.set(key, to: value, attributes: attributes)
    }

    func remove(_ key: StorageAddress) -> Bool { values.remove(key) }

    private func tell(_ number: some BinaryInteger, _ deliver: (RawSpan) -> Void) -> Bool {
        deliver(Data("\(number)".utf8).bytes)
        return true
    }
}
