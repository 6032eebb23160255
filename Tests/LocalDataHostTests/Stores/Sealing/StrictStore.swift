import Glibc
import LocalDataAPI
import Synchronization

/// A store in memory that counts the calls that are made while it passes a value, which a host must not do.
final class StrictStore: AttributedBackend, EnumerableBackend, StreamingBackend {
    static let component = ComponentInfo(id: "strict", summary: "a store that is not called while it passes a value")

    let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)
    private let values: FullStore
    private let passing = Mutex(Set<pthread_t>())
    private let misused = Atomic<Int>(0)

    convenience init() { self.init(options: ComponentOptions(), host: HostServices(name: "tests", version: "0")) }

    init(options: ComponentOptions, host: HostServices) { values = FullStore(options: options, host: host) }

    /// The number of such calls.
    var misuses: Int { misused.load(ordering: .relaxed) }

    private func count() {
        if passing.withLock({ $0.contains(pthread_self()) }) { misused.wrappingAdd(1, ordering: .relaxed) }
    }

    func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) -> Bool {
        count()
        passing.withLock { _ = $0.insert(pthread_self()) }
        defer { passing.withLock { _ = $0.remove(pthread_self()) } }
        return values.read(key, body)
    }

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) -> Bool {
        count()
        return values.get(key, deliver)
    }

    func exists(_ key: StorageAddress) -> Bool {
        count()
        return values.exists(key)
    }

    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) {
        count()
        values.set(key, to: value, attributes: attributes)
    }

    func remove(_ key: StorageAddress) -> Bool {
        count()
        return values.remove(key)
    }

    func attributes(of key: StorageAddress) -> ValueAttributes? {
        count()
        return values.attributes(of: key)
    }

    func write(
        _ key: StorageAddress, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        count()
        try values.write(key, attributes: attributes, from: source)
    }

    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) {
        count()
        values.forEachName(in: place, prefix: prefix, after: after, limit: limit, body)
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) {
        count()
        values.forEachPlace(body)
    }
}
