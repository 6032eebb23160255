internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI

/// A folder of this run's own.
struct TemporaryFolder {
    let path: String

    init() throws(StorageError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent)/localdata.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StorageError(
                .fileError, "no folder can be created in '\(parent)': \(String(cString: strerror(errno)))",
                hint: "set TMPDIR to a folder that you can write to")
        }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? parent }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
