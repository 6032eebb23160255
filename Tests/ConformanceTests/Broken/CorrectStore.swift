import LocalDataAPI
import LocalDataTesting
import Synchronization

/// A correct store that claims as much as one in a single process can: durable (for as long as the process lives), with
/// a limit and every ability. The broken ones each override a little of it.
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

    /// What stays when a store is closed.
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

    /// Asks no other call, so that a store that breaks one of them breaks that one only.
    func verify(_ key: StorageAddress) throws -> ValueState? { contents.holds(key) ? .intact : nil }

    func wipe(_ place: StorageNamespace) throws {}
}
