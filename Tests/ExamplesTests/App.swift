import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// A package with the README's app, and a home for it.
struct App {
    let folder: String
    private let system: BuildSystem
    var package: String { "\(folder)/SettingsApp" }
    var home: String { "\(folder)/home" }
    private var program: String { "\(folder)/installed" }

    init(_ system: BuildSystem) throws {
        self.system = system
        folder = try TemporaryFolder.make(named: "localdata-app")
        let source = "\(Repository.root)/Examples/SettingsApp"
        for path in [home, program, "\(package)/Sources/SettingsApp"] { try TemporaryFolder.makeFolder(path) }
        let manifest = try String(contentsOfFile: "\(source)/Package.swift", encoding: .utf8)
        try manifest.replacing("path: \"../..\"", with: "path: \"\(Repository.root)\"")
            .write(toFile: "\(package)/Package.swift", atomically: false, encoding: .utf8)
        try FileManager.default.copyItem(
            atPath: "\(source)/Sources/SettingsApp/SettingsApp.swift",
            toPath: "\(package)/Sources/SettingsApp/SettingsApp.swift")
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    func start(_ command: String, in scratch: String, _ arguments: [String]) throws -> ChildProcess.Completion {
        try system.run([command, "--package-path", package, "--scratch-path", scratch] + system.options + arguments)
    }

    @discardableResult
    func swift(_ command: String, in scratch: String, _ arguments: String...) throws -> String {
        let end = try start(command, in: scratch, arguments)
        let output = String(decoding: end.output, as: UTF8.self)
        try #require(end.outcome == .exited(code: 0), "\(output.suffix(4000))\(end.errorText.suffix(4000))")
        return output
    }

    /// The folder where the build puts products.
    func products(in scratch: String) throws -> String {
        try String(#require(swift("build", in: scratch, "--show-bin-path").split(separator: "\n").last))
    }

    /// Copies a product beside the program.
    func takeFrom(_ products: String, _ name: String) throws {
        try ProgramCopy.make(of: "\(products)/\(name)", at: program)
    }

    func run() throws -> ChildProcess.Completion { try run("\(program)/SettingsApp") }

    func run(_ program: String) throws -> ChildProcess.Completion {
        try ChildProcess(program, arguments: [], environment: environment).run(deadline: .seconds(60))
    }

    /// Runs this package's `ld-host` as the app's user.
    func host(_ arguments: String...) throws -> String {
        let end = try ChildProcess(BuiltProducts.host, arguments: arguments, environment: environment)
            .run(deadline: .seconds(60))
        #expect(end.outcome == .exited(code: 0), "\(end.errorText)")
        return end.lines.joined(separator: "\n")
    }

    private var environment: [String: String] { ["HOME": home, "PATH": "/usr/bin:/bin"] }

    /// A root folder with only glibc and a home.
    func emptyRoot() throws -> String {
        let root = "\(folder)/root"
        for path in ["lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "home", "proc", "tmp"] {
            try TemporaryFolder.makeFolder("\(root)/\(path)")
        }
        for folder in ["lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"] {
            for name in ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2"] {
                try copy("/\(folder)/\(name)", to: "\(root)/\(folder)/\(name)")
            }
        }
        for path in ["lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1"] {
            try copy("/\(path)", to: "\(root)/\(path)")
        }
        return root
    }

    private func copy(_ file: String, to copy: String) throws {
        guard let data = FileManager.default.contents(atPath: file) else { return }
        try data.write(to: URL(filePath: copy))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy)
    }

    /// Runs a program in another root, without any rights there but those of its user.
    func run(in root: String, _ program: String) throws -> ChildProcess.Completion {
        try ChildProcess(
            "/usr/bin/unshare",
            arguments: [
                "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc=\(root)/proc",
                "/usr/sbin/chroot", root, program,
            ], environment: ["HOME": "/home", "PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(60))
    }
}
