import LocalDataAPI
import LocalDataTesting
import Synchronization

/// A correct store with every ability that is possible in a single process: durable (for as long as the process lives),
/// and with a limit. Each broken store overrides a little of it.
class CorrectStore: InMemoryStore, CheckableBackend, VerifiableBackend, WipingBackend, @unchecked Sendable {
    static let limit: UInt64 = 9 << 20
    static let root = ComponentOption.path("root", default: "${data}/values", help: "what names the values' place")

    override class var component: ComponentInfo {
        ComponentInfo(id: "correct", summary: "keeps every promise", options: [root])
    }

    override var properties: StoreProperties {
        StoreProperties(latency: .disk, isDurable: true, isShared: false, largestValue: Self.limit)
    }

    private let contents: InMemoryContents

    /// The data that remains when a store is closed.
    private static let kept = Mutex<[String: InMemoryContents]>([:])

    required init(options: ComponentOptions, host: HostServices) throws {
        let root = try options.string("root")
        contents = Self.kept.withLock { kept in
            let contents = kept[root] ?? InMemoryContents()
            kept[root] = contents
            return contents
        }
        super.init(sharing: contents)
    }

    override init(sharing contents: InMemoryContents) {
        self.contents = contents
        super.init(sharing: contents)
    }

    func check(_ report: (String) -> Bool) throws {}

    /// Makes no other call, so that a store that breaks one of them breaks only that one.
    func verify(_ key: StorageAddress) throws -> ValueState? { contents.holds(key) ? .intact : nil }

    func wipe(_ place: StorageNamespace) throws {}
}
