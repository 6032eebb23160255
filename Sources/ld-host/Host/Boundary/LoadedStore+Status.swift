internal import CLocalData
internal import FoundationEssentials
internal import LocalDataAPI

/// What a status means for the call that it ended. Only `LD_OK` says that a change is made; a store that answers a
/// change with anything else must not pass for one that made it.
extension LoadedStore {
    @inline(__always)
    func value(_ data: Data?, _ status: Int32) throws(StorageError) -> Data? {
        switch status {
        case LD_OK:
            guard let data else { throw StorageError(.unknown, "the store reported a value and did not write it") }
            return data
        case LD_ABSENT: return nil
        default: throw stopped("reading a value")
        }
    }

    @inline(__always)
    func found(_ status: Int32, _ what: @autoclosure () -> String) throws(StorageError) -> Bool {
        guard status != LD_STOPPED else { throw stopped(what()) }
        return status == LD_OK
    }

    func stopped(_ what: String) -> StorageError {
        StorageError(.cancelled, "the store stopped \(what) before it was done")
    }

    func lacks(_ ability: String) -> StorageError {
        StorageError(.unsupported, "the store does not offer \(ability)", hint: "map the domain to a store that does")
    }

    func checkSize(_ count: Int) throws(StorageError) {
        guard let largest = properties.largestValue, count > largest else { return }
        throw StorageError(
            .valueTooLarge, "the value has \(count) bytes; the store takes at most \(largest)",
            hint: "map the domain to a store for large values")
    }
}
