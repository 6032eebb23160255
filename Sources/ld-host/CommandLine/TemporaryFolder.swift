internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI

/// A folder of this run's own.
struct TemporaryFolder {
    let path: String

    init() throws(StorageError) {
        var template = Array("/tmp/localdata.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StorageError(.fileError, "no folder can be created in /tmp: \(String(cString: strerror(errno)))")
        }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "/tmp" }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
