import Foundation
import LocalDataHost

/// What is built beside these tests, and what they build themselves.
enum BuiltProducts {
    /// The folder of `ld-host` and the plugins.
    static let folder: String = {
        // The bundle is a library of the program that runs the tests; the kernel knows where it was loaded from.
        let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        let bundle = maps.split(separator: "\n").first { $0.hasSuffix(".xctest") }.flatMap {
            $0.split(separator: " ").last
        }
        return URL(filePath: bundle.map(String.init) ?? "/").deletingLastPathComponent().path(percentEncoded: false)
    }()

    static let plugin = "\(folder)/libSecretService.so"
    static let host = "\(folder)/ld-host"

    /// The folder of the scripts that these tests run.
    static let programs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Programs").path(percentEncoded: false)

    /// The program that uses the plugin without any host; built once.
    static let store: Result<String, Failure> = {
        let tests = URL(filePath: programs).deletingLastPathComponent().deletingLastPathComponent()
        let repository = tests.deletingLastPathComponent().path(percentEncoded: false)
        let file = "\(folder)/secret-store-\(ProcessInfo.processInfo.processIdentifier)"
        do {
            let end = try ChildProcess(
                "/usr/bin/cc",
                arguments: [
                    "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-pthread",
                    "-I", "\(repository)/Sources/LocalDataAPI/CLocalData/include",
                    "-I", "\(repository)/Tests/Benchmarks/Baselines", "\(programs)/store.c", "-o", file,
                ], environment: ["PATH": "/usr/bin:/bin"]
            ).run(deadline: .seconds(60))
            guard end.outcome == .exited(code: 0) else { return .failure(Failure(description: end.errorText)) }
            atexit { if let file = try? BuiltProducts.store.get() { unlink(file) } }
            return .success(file)
        } catch { return .failure(Failure(description: "\(error)")) }
    }()

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
