import FoundationEssentials
import Glibc
import TestSupport

/// C libraries that the tests preload into the programs under test, or C programs that they compare them with.
enum PreloadedLibrary {
    /// Builds one from the C files in a folder of `Tests` whose names start with a prefix.
    ///
    /// - Returns: Its path, in the folder of the programs under test. The name keeps it from being taken for a plugin.
    static func build(_ name: String, prefix: String, in folder: String) throws -> String {
        let sources = "\(Repository.root)/Tests/\(folder)"
        let names = try FileManager.default.contentsOfDirectory(atPath: sources)
            .filter { $0.hasPrefix(prefix) && $0.hasSuffix(".c") }.sorted()
        let library = "\(BuiltProducts.folder)/\(name).so"
        // Another run of the tests may be building it too.
        let fresh = "\(library).\(getpid())"
        let ending = try Home().run(
            "/usr/bin/cc", ["-std=c11", "-O2", "-shared", "-fPIC", "-o", fresh] + names.map { "\(sources)/\($0)" })
        guard ending.status == 0, rename(fresh, library) == 0 else {
            throw TestFailure("\(name) cannot be built: \(ending.errors)")
        }
        return library
    }
}
