import FoundationEssentials

/// What the build left beside the running test program, and the package that it was built from.
enum BuiltProducts {
    /// The folder of the built programs and plugins, without symbolic links: that of the test program, or the one that
    /// `LOCALDATA_PRODUCTS` names, such as a release build's.
    static let folder: String = {
        if let folder = ProcessInfo.processInfo.environment["LOCALDATA_PRODUCTS"], !folder.isEmpty { return folder }
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
    }()

    /// The program under test.
    static let program = "\(folder)/ld-host"

    /// The package's own folder.
    static let package: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(4)
        return parts.joined(separator: "/")
    }()

    /// Whether the long campaigns run whole.
    static let isTorture = ProcessInfo.processInfo.environment["LOCALDATA_TORTURE"] == "1"
}
