import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("a store that is sealed with a key file", .timeLimit(.minutes(2))) struct KeyFileTests {
    private let key = textKey("k", .custom(name: "own"))
    private let sealing = "sealing: { source: \"keyFile\" }"

    private func path(_ home: SealedHome) -> String { "\(home.folder)/config/keys/vault.key" }

    private func write(_ bytes: Data, _ path: String, mode: mode_t = 0o600) throws {
        try? FileManager.default.createDirectory(
            atPath: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), withIntermediateDirectories: true)
        try bytes.write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
    }

    /// Expects that nothing can be read or written, and that no file changes.
    private func expectRefused(
        _ home: SealedHome, _ code: StorageError.Code, _ words: String..., location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = home.files("data").merging(home.files("config")) { first, _ in first }
        let router = try home.vault(sealing)
        var calls: [@Sendable () async throws -> Void] = [
            { [key] in try await router.set("y", for: key) },
            { _ = try await router.keys.rotate(of: .store("vault")) },
        ]
        if home.files("data").keys.contains(where: { $0.hasSuffix("own/k") }) {
            calls += [
                { [key] in _ = try await router.get(key) }, { _ = try await router.keys.list(of: .store("vault")) },
            ]
        }
        for call in calls {
            let error = try await StorageError.of(location: location, call)
            #expect(error.code == code, "\(error)", sourceLocation: location)
            #expect(!error.hint.isEmpty, "\(error)", sourceLocation: location)
            for word in words { #expect("\(error)".contains(word), "\(error)", sourceLocation: location) }
        }
        #expect(
            home.files("data").merging(home.files("config")) { first, _ in first } == before, sourceLocation: location)
    }

    @Test(
        "the file is made with mode 0600 in a folder of mode 0700, also below a group's, and is the key from then on",
        arguments: [false, true])
    func made(isOfGroup: Bool) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        if isOfGroup { #expect(chmod(home.folder, 0o2755) == 0) }
        try await home.vault(sealing).set("the secret value", for: key)
        #expect(SealedHome.mode(path(home)) == 0o600)
        #expect(SealedHome.mode("\(home.folder)/config/keys") == 0o700)
        #expect(try Data(contentsOf: URL(filePath: path(home))).count == 32)
        #expect(try await home.vault(sealing).get(key) == "the secret value")
        #expect(!home.contains("the secret value"))
        let elsewhere = try SealedHome()
        defer { elsewhere.remove() }
        let own = "sealing: { source: \"keyFile\", path: \"\(elsewhere.folder)/a/b/own.key\" }"
        try await elsewhere.vault(own).set("x", for: key)
        #expect(SealedHome.mode("\(elsewhere.folder)/a/b/own.key") == 0o600)
        #expect(try await elsewhere.vault(own).get(key) == "x")
    }

    @Test("an existing file is used unchanged", arguments: [16, 32, 4096])
    func given(_ count: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) })
        try write(bytes, path(home), mode: 0o400)
        try await home.vault(sealing).set("x", for: key)
        #expect(try await home.vault(sealing).get(key) == "x")
        #expect(try Data(contentsOf: URL(filePath: path(home))) == bytes)
    }

    @Test("a file of the wrong size is not a key, with or without a ring", arguments: [0, 1, 15, 4097, 1 << 20])
    func size(_ count: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try write(Data(count: count), path(home))
        try await expectRefused(home, .corrupt, path(home), "\(count) bytes", "16 to 4096")
        try FileManager.default.removeItem(atPath: path(home))
        try await home.vault(sealing).set("x", for: key)
        try write(Data(count: count), path(home))
        try await expectRefused(home, .corrupt, path(home), "put back a copy")
    }

    @Test(
        "a file that others could read or change is refused",
        arguments: [0o640, 0o604, 0o620, 0o601, 0o777] as [mode_t])
    func mode(_ mode: mode_t) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try write(Data(repeating: 1, count: 32), path(home), mode: mode)
        try await expectRefused(
            home, .permissionDenied, path(home), "mode \(String(mode, radix: 8))", "chmod 600")
        try #require(chmod(path(home), 0o600) == 0)
        try await home.vault(sealing).set("x", for: key)
        try #require(chmod(path(home), mode) == 0)
        try await expectRefused(home, .permissionDenied, path(home))
        #expect(SealedHome.mode(path(home)) == mode)
    }

    @Test("a file of another user is refused", .enabled(if: geteuid() == 0, "only root can give files away"))
    func ownerAsRoot() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try write(Data(repeating: 1, count: 32), path(home))
        try #require(chown(path(home), 12345, 12345) == 0)
        try await expectRefused(home, .permissionDenied, path(home), "owner 12345", "use a copy of your own")
    }

    @Test("a link of one's own is followed")
    func link() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let target = "\(home.folder)/config/keys/target"
        try write(Data(repeating: 1, count: 32), target)
        try #require(symlink(target, path(home)) == 0)
        try await home.vault(sealing).set("x", for: key)
        #expect(try await home.vault(sealing).get(key) == "x")
    }

    enum Odd: CaseIterable { case danglingLink, loop, folder, pipe, fileAsFolder }

    @Test("an irregular file is refused, and no key is created in its place", arguments: Odd.allCases)
    func odd(_ odd: Odd) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let path = path(home)
        let target = "\(home.folder)/config/keys/target"
        try write(Data(repeating: 1, count: 32), target)
        switch odd {
        case .danglingLink: try #require(symlink("\(target).absent", path) == 0)
        case .loop: try #require(symlink(path, path) == 0)
        case .folder: try #require(mkdir(path, 0o700) == 0)
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .fileAsFolder:
            try FileManager.default.removeItem(atPath: "\(home.folder)/config/keys")
            try write(Data(repeating: 1, count: 32), "\(home.folder)/config/keys")
        }
        let code: StorageError.Code = [.folder, .pipe].contains(odd) ? .corrupt : .permissionDenied
        try await expectRefused(home, code, path)
    }

    @Test("a file that cannot be opened is refused", .enabled(if: geteuid() != 0, "root opens every file"))
    func unreadable() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try write(Data(repeating: 1, count: 32), path(home), mode: 0)
        try await expectRefused(home, .permissionDenied, path(home), "cannot be opened")
    }

    @Test("the file of an existing ring is never recreated")
    func missing() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await home.vault(sealing).set("x", for: key)
        let bytes = try Data(contentsOf: URL(filePath: path(home)))
        try FileManager.default.removeItem(atPath: path(home))
        try await expectRefused(home, .securityApplicationFailed, path(home), "is missing", "put back a copy")
        #expect(!FileManager.default.fileExists(atPath: path(home)))
        try write(bytes, path(home))
        #expect(try await home.vault(sealing).get(key) == "x")
    }

    @Test("another key is reported as the wrong one, at once and with its path")
    func wrong() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await home.vault(sealing).set("x", for: key)
        try write(Data(repeating: 9, count: 32), path(home))
        try await expectRefused(
            home, .cannotOpen, "the key ring of store 'vault' cannot be opened", path(home), "not the one that sealed")
    }

    @Test("a ring that was changed is not opened, and stays")
    func changedRing() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await home.vault(sealing).set("x", for: key)
        let ring = try home.valueFile("ring")
        let stored = try Data(contentsOf: URL(filePath: ring))
        for offset in stride(from: 0, to: stored.count, by: 13) {
            var changed = stored
            changed[offset] ^= 0x10
            try changed.write(to: URL(filePath: ring))
            let error = try await StorageError.of { try await home.vault(sealing).get(key) }
            #expect(error.code == .cannotOpen && error.message.contains("key ring of store 'vault'"), "\(error)")
            await #expect(throws: StorageError.cannotOpen) { try await home.vault(sealing).set("y", for: key) }
            #expect(try Data(contentsOf: URL(filePath: ring)) == changed)
        }
        try stored.write(to: URL(filePath: ring))
        #expect(try await home.vault(sealing).get(key) == "x")
    }
}
