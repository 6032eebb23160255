import Foundation
import PackagePlugin

/// A folder that runs on another machine. It is made beside its place, and put there at the end.
struct Bundle {
    private let context: PluginContext
    private let manager: PackageManager
    private let options: BundleOptions
    private let known: KnownPlugins
    private let files = FileManager.default

    init(_ context: PluginContext, _ manager: PackageManager, _ options: BundleOptions, _ known: KnownPlugins) {
        self.context = context
        self.manager = manager
        self.options = options
        self.known = known
    }

    func make() throws {
        guard let folder = options.folder, !folder.isEmpty else {
            throw CommandFailure("the folder is missing: swift package localdata bundle --to DIR")
        }
        let folderURL = URL(filePath: folder, relativeTo: context.package.directoryURL).absoluteURL.standardizedFileURL
        let place = BundlePlace(folderURL)
        try place.check()
        let executables = try products()
        let staged = try place.stage()
        defer { try? files.removeItem(at: staged) }
        for path in ["bin", "lib/localdata/plugins", "lib/localdata/runtime"] {
            try files.createDirectory(at: staged.appending(path: path), withIntermediateDirectories: true)
        }
        // Each product is a build of its own, and the host is a long chain of modules, beside which a core is free.
        // What fails here fails again below, where it is reported.
        if Set(options.plugins).isSuperset(of: known.defaults) {
            _ = try? manager.build(.target(KnownPlugins.together), parameters: parameters(""))
        }
        for name in executables {
            let runPath = "$ORIGIN/../lib/localdata/runtime"
            let program = try manager.artifact(of: name, .executable, parameters(runPath))
            try add(program, to: staged.appending(path: "bin"), staged, runPath)
            for resources in try files.contentsOfDirectory(atPath: program.deletingLastPathComponent().path())
            where resources.hasSuffix(".resources") {
                try files.copyItem(
                    at: program.deletingLastPathComponent().appending(path: resources),
                    to: staged.appending(path: "bin/\(resources)"))
            }
        }
        for plugin in options.plugins {
            let runPath = "$ORIGIN/../runtime"
            var parameters = parameters(runPath)
            // Without one, the linker records where it put the file.
            parameters.otherLinkerFlags.append("-soname=lib\(plugin).so")
            let file = try manager.artifact(of: plugin, .dynamicLibrary, parameters)
            try add(file, to: staged.appending(path: "lib/localdata/plugins"), staged, runPath)
        }
        try place.put(staged)
        print("\(folderURL.path(percentEncoded: false)): \(executables.joined(separator: ", "))")
        print("with the plugins \(options.plugins.joined(separator: ", "))")
    }

    private func products() throws -> [String] {
        let known = context.package.products(ofType: ExecutableProduct.self).map(\.name)
        for product in options.products where !known.contains(product) {
            throw CommandFailure(
                "this package has no executable product '\(product)'; it has "
                    + (known.isEmpty ? "none" : known.joined(separator: ", ")))
        }
        guard !known.isEmpty else { throw CommandFailure("this package has no executable product") }
        return options.products.isEmpty ? known : options.products
    }

    /// How to build what looks for libraries in a folder first; what it needs, too (which only DT_RPATH does). A build
    /// system may add folders of this machine, which ``RunPath`` removes.
    private func parameters(_ runPath: String) -> PackageManager.BuildParameters {
        var parameters = options.parameters
        // No debug information: the linker would strip it.
        parameters.otherSwiftcFlags = ["-no-toolchain-stdlib-rpath", "-gnone"]
        parameters.otherLinkerFlags = ["-rpath=\(runPath)", "--disable-new-dtags", "-s"]
        return parameters
    }

    /// Puts a file and the libraries that it needs into the bundle, with the run path as its only one.
    private func add(_ file: URL, to folder: URL, _ bundle: URL, _ runPath: String) throws {
        let copy = folder.appending(path: file.lastPathComponent)
        try files.copyItem(at: file, to: copy)
        var own = try RunPath(of: copy)
        try own.keep(runPath)
        // Not atomically: the file keeps its mode.
        try own.data.write(to: copy)
        for library in try libraries(of: file) {
            let copy = bundle.appending(path: "lib/localdata/runtime/\(library.name)")
            guard !files.fileExists(atPath: copy.path(percentEncoded: false)) else { continue }
            try files.copyItem(at: URL(filePath: library.path).resolvingSymlinksInPath(), to: copy)
        }
    }

    /// The libraries that a file needs, and those that they need, but glibc's.
    private func libraries(of file: URL) throws -> [(name: String, path: String)] {
        // It was linked to find them in the bundle, not here.
        let output = try output(
            of: URL(filePath: "/usr/bin/ldd"), [file.path(percentEncoded: false)], libraries: try runtime())
        let text = String(decoding: output, as: UTF8.self)
        var found: [(name: String, path: String)] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map { $0.trimmingCharacters(in: .whitespaces) }
            guard words.count >= 3, words[1] == "=>" else { continue }
            guard words[2].hasPrefix("/") else {
                throw CommandFailure("'\(file.lastPathComponent)' needs \(words[0]), which is not installed here")
            }
            if !Self.isOfSystem(words[0]) { found.append((words[0], words[2])) }
        }
        return found
    }

    /// Whether a library is glibc's, which fits the kernel and the rest of the machine that it is on.
    private static func isOfSystem(_ name: String) -> Bool {
        ["libc", "libm", "libdl", "librt", "libpthread", "libresolv", "libutil", "libmvec", "libnss_files"]
            .contains { name.hasPrefix("\($0).so") } || name.hasPrefix("ld-linux")
    }

    /// The folders of Swift's runtime, as the compiler says, divided by colons.
    private func runtime() throws -> String {
        struct Target: Decodable {
            struct Paths: Decodable { let runtimeLibraryPaths: [String] }
            let paths: Paths
        }
        let text = try output(of: try context.tool(named: "swiftc").url, ["-print-target-info"])
        return try JSONDecoder().decode(Target.self, from: text).paths.runtimeLibraryPaths.joined(separator: ":")
    }

    private func output(of program: URL, _ arguments: [String], libraries: String? = nil) throws -> Data {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let libraries { process.environment = ["PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": libraries] }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailure("\(program.path(percentEncoded: false)) \(arguments.joined(separator: " ")) failed")
        }
        return output
    }
}
