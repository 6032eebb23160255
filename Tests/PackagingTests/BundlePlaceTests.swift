import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// `swift package localdata bundle --to DIR`, as far as it changes DIR: its source, in a program that makes a small
/// bundle.
@Suite("Where a bundle is put", .serialized)
struct BundlePlaceTests {
    private static let driver = """
        import Foundation

        struct CommandFailure: Error {
            let text: String
            init(_ text: String) { self.text = text }
        }

        do {
            let place = BundlePlace(URL(filePath: CommandLine.arguments[1]))
            try place.check()
            let staged = try place.stage()
            defer { try? FileManager.default.removeItem(at: staged) }
            for path in ["bin", "lib/localdata/plugins", "lib/localdata/runtime"] {
                try FileManager.default.createDirectory(
                    at: staged.appending(path: path), withIntermediateDirectories: true)
            }
            for path in ["bin/app", "lib/localdata/runtime/lib\\(CommandLine.arguments[2]).so"] {
                try Data(CommandLine.arguments[2].utf8).write(to: staged.appending(path: path))
            }
            try place.put(staged)
        } catch let failure as CommandFailure {
            print(failure.text)
            exit(1)
        }
        """

    private let scratch: TemporaryFolder
    private let program: String

    init() throws {
        scratch = try TemporaryFolder()
        let built = "\(scratch.path)/built"
        program = "\(built)/bundle"
        try FileManager.default.createDirectory(atPath: built, withIntermediateDirectories: false)
        try Data(Self.driver.utf8).write(to: URL(filePath: "\(built)/main.swift"))
        let ending = try Self.run(
            "/usr/bin/env",
            [
                "swiftc", "-module-cache-path", built, "-o", program, "\(built)/main.swift",
                "\(Repository.root)/Sources/ld-host/Bundling/BundlePlace.swift",
            ])
        try #require(ending == (0, ""), "\(ending.text)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    private var folder: String { "\(scratch.path)/folder" }

    private static func run(_ program: String, _ words: [String]) throws -> (status: Int32, text: String) {
        let end = try ChildProcess(program, arguments: words, environment: ProcessInfo.processInfo.environment)
            .run(deadline: .seconds(300))
        guard case .exited(let status) = end.outcome else { return (-1, end.errorText) }
        return (status, String(decoding: end.output, as: UTF8.self) + end.errorText)
    }

    private func bundle(_ version: String, to name: String) throws -> (status: Int32, text: String) {
        try Self.run(program, ["\(folder)/\(name)", version])
    }

    /// All files and folders.
    private func files() throws -> Set<String> { Set(try FileManager.default.subpathsOfDirectory(atPath: folder)) }

    @Test("replaces an earlier bundle with all its files, and leaves nothing beside it")
    func replaces() throws {
        #expect(try bundle("one", to: "app") == (0, ""))
        #expect(try bundle("two", to: "app") == (0, ""))
        #expect(
            try files() == [
                "app", "app/bin", "app/bin/app", "app/lib", "app/lib/localdata", "app/lib/localdata/bundle",
                "app/lib/localdata/plugins", "app/lib/localdata/runtime", "app/lib/localdata/runtime/libtwo.so",
            ])
        try FileManager.default.createDirectory(atPath: "\(folder)/empty", withIntermediateDirectories: false)
        #expect(try bundle("three", to: "empty") == (0, ""))
    }

    @Test("refuses a prefix in which programs are installed, or data is kept, and removes nothing of it")
    func refuses() throws {
        func add(_ path: String) throws {
            let file = URL(filePath: "\(folder)/local/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: file)
        }
        // As `make install` leaves it.
        for path in ["bin/ld-host", "lib/localdata/runtime/libswiftCore.so", "share/localdata/values.sqlite"] {
            try add(path)
        }
        var before = try files()
        var refused = try bundle("one", to: "local")
        #expect(refused.status == 1 && refused.text.contains("neither empty nor an earlier bundle"), "\(refused)")
        #expect(try files() == before)
        // A bundle in which something else has been put since.
        try FileManager.default.removeItem(atPath: "\(folder)/local")
        #expect(try bundle("one", to: "local") == (0, ""))
        try add("share/localdata/values.sqlite")
        before = try files()
        refused = try bundle("two", to: "local")
        #expect(refused.status == 1, "\(refused)")
        #expect(refused.text.contains("has 'share', which no bundle has put there"), "\(refused)")
        #expect(try files() == before)
    }
}
