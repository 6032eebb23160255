import FoundationEssentials
import Glibc

/// The files that the test program has open.
package enum OpenFiles {
    /// How many files and folders are open below a folder.
    package static func count(below folder: String) -> Int { descriptors(below: folder).count }

    /// Closes them. Nothing may use them any more.
    package static func close(below folder: String) {
        for descriptor in descriptors(below: folder) { Glibc.close(descriptor) }
    }

    private static func descriptors(below folder: String) -> [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).filter { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasPrefix("\(folder)/") == true
        }.compactMap { Int32($0) }
    }

    /// Allows as many open files as this user may have, for campaigns that make hundreds of routers: one is never
    /// freed, nor are its stores.
    package static func raiseLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
