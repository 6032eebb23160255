import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// What `swift package localdata bundle` changes in the files that it copies: its source, in a program of its own.
@Suite("The run path of what is in a bundle")
struct RunPathTests {
    private static let driver = """
        import Foundation

        struct CommandFailure: Error {
            let text: String
            init(_ text: String) { self.text = text }
        }

        for path in CommandLine.arguments.dropFirst(2) {
            do {
                var file = try RunPath(of: URL(filePath: path))
                try file.keep(CommandLine.arguments[1])
                try file.data.write(to: URL(filePath: path))
                print("changed")
            } catch let failure as CommandFailure {
                print(failure.text)
            }
        }
        """

    private let scratch: TemporaryFolder

    init() throws {
        scratch = try TemporaryFolder()
        try scratch.write(Self.driver.utf8, to: "main.swift")
        let built = try run(
            "swiftc", "-module-cache-path", scratch.path, "-o", "\(scratch.path)/keep", "\(scratch.path)/main.swift",
            "\(Repository.root)/Sources/ld-host/Bundling/RunPath.swift")
        try #require(built.isEmpty, "\(built)")
    }

    @discardableResult
    private func run(_ words: String...) throws -> String {
        let end = try ChildProcess(
            "/usr/bin/env", arguments: ["--chdir=\(scratch.path)"] + words, environment: TestRun.environment
        ).run(deadline: .seconds(300))
        let text = String(decoding: end.output, as: UTF8.self) + end.errorText
        try #require(end.outcome == .exited(code: 0), "\(text)")
        return text
    }

    /// Links a library that needs libm.
    private func link(_ name: String, _ options: String...) throws {
        try scratch.write("#include <math.h>\ndouble root(double value) { return sqrt(value); }\n".utf8, to: "root.c")
        try run(
            "sh", "-c", "cc -shared -fPIC -fno-builtin -Wl,--no-as-needed \"$@\" root.c -o \(name) -lm", "sh",
            options.joined(separator: ","))
    }

    private func runPath(_ name: String) throws -> String {
        let lines = try run("readelf", "-d", name).split(separator: "\n").filter { $0.contains("PATH)") }
        try #require(lines.count == 1, "\(lines)")
        return String(lines[0].split(separator: "[")[1].dropLast())
    }

    @Test(
        "is the bundle's own, without the folders that the build added",
        arguments: ["", "/opt/a toolchain/linux:", "/opt/a toolchain/linux:$ORIGIN:"], ["disable", "enable"])
    func isKept(added: String, tags: String) throws {
        try link("libroot.so", "-Wl", "--\(tags)-new-dtags", "-rpath", "\(added)$ORIGIN/../runtime")
        #expect(try runPath("libroot.so") == "\(added)$ORIGIN/../runtime")
        #expect(try run("./keep", "$ORIGIN/../runtime", "libroot.so") == "changed\n")
        #expect(try runPath("libroot.so") == "$ORIGIN/../runtime")
        let left = try #require(scratch.content("libroot.so"))
        #expect(!String(decoding: left, as: UTF8.self).contains("a toolchain"))
        #expect(try run("ldd", "-r", "./libroot.so").contains("libm.so.6 => /"))
    }

    @Test("is refused if it is not the one that the build was given, and in a file that is damaged")
    func refuses() throws {
        try link("libother.so", "-Wl", "-rpath", "$ORIGIN/../runtime:/opt")
        try link("libmore.so", "-Wl", "-rpath", "/opt/$ORIGIN/../runtime")
        try link("libnone.so", "-Wl", "--build-id")
        let bytes = try #require(scratch.content("libother.so"))
        try scratch.write(bytes.prefix(bytes.count / 4), to: "libshort.so")
        try scratch.write("text".utf8, to: "libtext.so")
        let found = try run(
            "./keep", "$ORIGIN/../runtime", "libother.so", "libmore.so", "libnone.so", "libshort.so", "libtext.so")
        #expect(
            found.split(separator: "\n") == [
                "'libother.so' has the run path '$ORIGIN/../runtime:/opt', expected '$ORIGIN/../runtime' at its end",
                "'libmore.so' has the run path '/opt/$ORIGIN/../runtime', expected '$ORIGIN/../runtime' at its end",
                "'libnone.so' has 0 run paths, expected one", "'libshort.so' is damaged",
                "'libtext.so' is not a program or library",
            ])
        #expect(scratch.content("libother.so") == bytes)
    }
}
