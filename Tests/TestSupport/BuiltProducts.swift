import FoundationEssentials

/// The products of the build, in the folder of the running test program.
package enum BuiltProducts {
    /// The folder of the built programs and plugins, without symbolic links: that of the test program, or the one that
    /// `LOCALDATA_PRODUCTS` names, such as a release build's.
    package static let folder: String = {
        if let folder = TestRun.environment["LOCALDATA_PRODUCTS"], !folder.isEmpty { return folder }
        let program = TestRun.program
        return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
    }()

    /// `ld-host`.
    package static let host = "\(folder)/ld-host"

    /// The library of a plugin, by its target's name.
    package static func plugin(_ name: String) -> String { "\(folder)/lib\(name).so" }
}
