import Foundation
import LocalDataHost
import TestSupport

/// The program that uses the plugin without any host, from `Programs/store.c`.
enum StoreProgram {
    /// The plugin.
    static let plugin = BuiltProducts.plugin("SecretService")

    /// The folder of the scripts and programs that these tests run.
    static let folder = "\(Repository.tests)/SecretServiceTests/Programs"

    /// The program; built once.
    static let built: Result<String, any Error> = Result {
        let file = "\(BuiltProducts.folder)/secret-store-\(getpid())"
        let end = try ChildProcess(
            "/usr/bin/cc",
            arguments: [
                "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-pthread",
                "-I", Repository.header, "-I", "\(Repository.tests)/Benchmarks/Baselines", "\(folder)/store.c",
                "-o", file,
            ], environment: ["PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(60))
        guard end.outcome == .exited(code: 0) else { throw TestFailure(end.errorText) }
        atexit { if let file = try? StoreProgram.built.get() { unlink(file) } }
        return file
    }
}
