import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite(.waitsForPrograms) struct PluginFileRefusalTests {
    private func expectRefused(
        _ path: String, _ parts: String..., hint: String? = nil, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let host = try FixtureBuilder.host
        for inspector in [
            PluginInspector(host: nil, timeout: .seconds(20)), PluginInspector(host: host, timeout: .seconds(20)),
        ] {
            let error = try #require(throws: StorageError.self, sourceLocation: location) {
                try inspector.inspect(path)
            }
            #expect(error.code == .pluginRefused, sourceLocation: location)
            for part in [path] + parts {
                #expect(error.message.contains(part), "in: \(error.message)", sourceLocation: location)
            }
            if let hint { #expect(error.hint.contains(hint), "in: \(error.hint)", sourceLocation: location) }
        }
    }

    @Test(
        "a file that others can write is refused",
        arguments: PluginScratch.others([(0o757, "others")], toGroup: (0o775, "its group")))
    func writableFile(_ mode: Int, _ who: String) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build()
        try #require(chmod(path, mode_t(mode)) == 0)
        try expectRefused(path, "writable by \(who)", "expected to be writable by its owner only", hint: "chmod go-w")
        try #require(chmod(path, 0o755) == 0)
        _ = try PluginImage.load(path)
    }

    @Test("a file is refused if others can write to any folder above it")
    func writableFolder() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let inner = "\(fixture.folder)/outer/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let path = "\(inner)/libFixture.so"
        try #require(rename(fixture.build(), path) == 0)
        try #require(chmod(inner, 0o755) == 0 && chmod("\(fixture.folder)/outer", 0o777) == 0)
        try expectRefused(path, "\(fixture.folder)/outer", "writable by its group and others", hint: "chmod go-w")
        try #require(chmod("\(fixture.folder)/outer", 0o755) == 0)
        _ = try PluginImage.load(path)
    }

    @Test("anything but a shared library is refused before it is opened as one")
    func notALibrary() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        try expectRefused(fixture.write(Array("#!/bin/sh\necho hello, plugin\n".utf8), to: "libText.so"))
        try expectRefused(fixture.write([], to: "libEmpty.so"))
        try expectRefused(fixture.write(Array("\u{7F}ELF".utf8), to: "libMagic.so"))
        try expectRefused(
            fixture.folder, "directory", "expected a regular file", hint: "name the shared library itself")
        try expectRefused("\(fixture.folder)/libMissing.so", "does not exist")
        try expectGoodPluginWorks(fixture)
    }

    @Test("a truncated library is refused, wherever it was truncated", arguments: [0.02, 0.25, 0.5, 0.75])
    func truncated(_ part: Double) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let whole = try Data(contentsOf: URL(filePath: fixture.build()))
        let path = try fixture.write(whole.prefix(Int(Double(whole.count) * part)), to: "libCut.so")
        try expectRefused(path, hint: "install the plugin again")
        try expectGoodPluginWorks(fixture)
    }
}
