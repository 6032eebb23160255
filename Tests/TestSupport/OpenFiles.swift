import FoundationEssentials
import Glibc

/// The descriptors of the test program.
package enum OpenFiles {
    /// Closes the files that are open below a folder, for campaigns that make thousands of routers: one is never freed,
    /// nor are its stores. Nothing may use them any more.
    package static func close(below folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            if let descriptor = Int32(name), target?.hasPrefix("\(folder)/") == true { Glibc.close(descriptor) }
        }
    }
}
