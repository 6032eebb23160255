internal import FoundationEssentials
internal import Glibc
package import LocalDataPluginAPI
internal import Synchronization

/// A temporary folder for the stores of one run.
package struct ScratchFolder: Sendable {
    package let path: String

    /// Creates the folder; other users cannot read it.
    package init() throws(StorageError) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/localdata-conformance.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StorageError(
                .fileError, "no folder can be created in '\(base)': \(String(cString: strerror(errno)))",
                hint: "set TMPDIR to a writable folder")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The folder of this process, removed when the process exits.
    package static func ofProcess() throws(StorageError) -> ScratchFolder {
        try shared.withLock { (shared) throws(StorageError) in
            if let shared { return shared }
            let made = try ScratchFolder()
            atexit(removeShared)
            shared = made
            return made
        }
    }

    /// Removes the folder with its contents.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }
}

private let shared = Mutex<ScratchFolder?>(nil)

private func removeShared() { shared.withLock { $0?.remove() } }
