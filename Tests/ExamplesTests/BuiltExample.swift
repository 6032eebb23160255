import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// An example package, built for a test as its author would build it.
struct BuiltExample {
    /// A temporary folder; remove it at the end.
    let folder: String
    /// The folder of the example's program or plugin.
    var products: String { "\(folder)/products" }

    init(_ name: String, by system: BuildSystem = .native) throws {
        folder = try TemporaryFolder.make(named: "localdata-\(name)")
        let products = products
        try TemporaryFolder.makeFolder(products)
        try system.build { scratch in
            func swiftBuild(_ options: String...) throws -> String {
                let build = try system.run(
                    [
                        "build", "--package-path", "\(Repository.root)/Examples/\(name)", "--scratch-path", scratch,
                    ] + system.options + options)
                let output = String(decoding: build.output.suffix(4000), as: UTF8.self)
                try #require(build.outcome == .exited(code: 0), "\(output)\(build.errorText.suffix(4000))")
                return output
            }
            _ = try swiftBuild()
            let built = try #require(try swiftBuild("--show-bin-path").split(separator: "\n").last)
            for product in [name, "lib\(name).so"]
            where FileManager.default.fileExists(atPath: "\(built)/\(product)") {
                try ProgramCopy.make(of: "\(built)/\(product)", at: products)
            }
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs a program with a separate home inside the folder, and the plugins next to the tests.
    func run(_ program: String, _ arguments: String...) throws -> String { try run(program, arguments) }

    /// Like the other function, with the arguments in a list.
    func run(_ program: String, _ arguments: [String]) throws -> String {
        let end = try ChildProcess(
            program, arguments: arguments,
            environment: [
                "HOME": "\(folder)/home", "PATH": "/usr/bin:/bin", "LOCALDATA_PLUGIN_PATH": BuiltProducts.folder,
                "XDG_CONFIG_HOME": "\(folder)/config",
            ]
        ).run(deadline: .seconds(60))
        #expect(end.outcome == .exited(code: 0), "\(end.errorText)")
        return String(decoding: end.output, as: UTF8.self)
    }
}
