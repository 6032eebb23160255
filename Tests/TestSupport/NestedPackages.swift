import FoundationEssentials
import Glibc
import Synchronization

/// Packages that depend on this one, and that tests build as their authors would.
package enum NestedPackages {
    /// The folder in which they are built, which is removed when the tests end.
    private static let scratch = Mutex<String?>(nil)

    /// Lets one test at a time build. All of them build in one folder, so that their dependencies are compiled once.
    package static func build<Result: Sendable>(_ body: (_ scratch: String) throws -> Result) throws -> Result {
        try scratch.withLock { scratch in
            if let scratch { return try body(scratch) }
            let folder = try TemporaryFolder.make(named: "localdata-packages")
            scratch = folder
            atexit {
                NestedPackages.scratch.withLock { folder in
                    if let folder { try? FileManager.default.removeItem(atPath: folder) }
                }
            }
            return try body(folder)
        }
    }
}
