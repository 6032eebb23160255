internal import FileStore
internal import LocalDataAPI
internal import MemoryStore

/// The stores that need no library of the system, for a program that links them: it works without any plugin. The host
/// finds this function by its symbol, if the program has it.
@c(localdata_linked_v1)
public func linkedStores() -> UnsafeRawPointer {
    Plugin.export("LocalData", version: "0.1.0", .fileStore, .memoryStore)
}
