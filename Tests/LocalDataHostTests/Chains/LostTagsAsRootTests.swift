import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing
@testable import LocalDataHost

/// Mounts a file system, which only root may.
@Suite("A key with versions on a file system without attributes", .enabled(if: geteuid() == 0))
struct LostTagsAsRootTests {
    private static let domain = StorageDomain.fileSystem()

    private static func onRAM(_ body: (MigrationHome) async throws -> Void) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let data = home.home.folder + "/data"
        mkdir(data, 0o700)
        try #require(mount("none", data, "ramfs", 0, nil) == 0, "error \(errno)")
        defer { umount2(data, Int32(MNT_DETACH)) }
        chmod(data, 0o700)
        try await body(home)
    }

    @Test("an older value is brought to the current version, and then read without being written")
    func older() async throws {
        try await Self.onRAM { home in
            try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", Self.domain))
            let count = ConversionCount()
            for _ in 0..<2 {
                let router = try home.router()
                let key = try Note.key("note", Self.domain, counting: count)
                #expect(try await router.get(key) == Note.V3(title: "hello", tags: []))
                try await Self.isRead(key, by: router, in: home)
            }
            #expect(count.value == 1)
        }
    }

    @Test("a current value is read without being written")
    func current() async throws {
        try await Self.onRAM { home in
            let router = try home.router()
            let key = try Note.key("note", Self.domain)
            try await router.set(Note.V3(title: "hello", tags: []), for: key)
            #expect(try await router.get(key) == Note.V3(title: "hello", tags: []))
            try await Self.isRead(key, by: router, in: home)
        }
    }

    /// Checks that further reads leave the value's file alone; a write would put another in its place.
    private static func isRead(
        _ key: StorageKey<Note.V3>, by router: StorageRouter, in home: MigrationHome
    ) async throws {
        func file() throws -> ino_t {
            var status = stat()
            try #require(try lstat(home.home.valueFile("note"), &status) == 0)
            return status.st_ino
        }
        let before = try file()
        for _ in 0..<3 { #expect(try await router.get(key).title == "hello") }
        #expect(try file() == before)
    }
}
