import FoundationEssentials
import LocalDataPluginAPI
import Synchronization

final class HelloStore: StorageBackend {
    static let component = ComponentInfo(id: "hello", summary: "keeps values in a dictionary")
    let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)
    let values = Mutex<[StorageAddress: Data]>([:])
    init(options: ComponentOptions, host: HostServices) {}

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) -> Bool {
        guard let data = values.withLock({ $0[key] }) else { return false }
        deliver(data.bytes)
        return true
    }
    func exists(_ key: StorageAddress) -> Bool { values.withLock { $0[key] != nil } }
    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) {
        let data = value.withUnsafeBytes { Data($0) }
        values.withLock { $0[key] = data }
    }
    func remove(_ key: StorageAddress) -> Bool { values.withLock { $0.removeValue(forKey: key) != nil } }
}
/// The plugin's entry.
@c(localdata_plugin_v1)
public func plugin() -> UnsafeRawPointer { Plugin.export("Hello", version: "1.0.0", .storage(HelloStore.self)) }
