@testable import FileStore
import Glibc
import LocalDataAPI
import TestSupport
import Testing

/// Mounts a file system, which only root may.
@Suite("A store on a file system without attributes", .enabled(if: geteuid() == 0))
struct NoAttributesAsRootTests {
    @Test("reads a value without a tag, with another revision after each write, and changes none on a condition")
    func values() throws {
        let fixture = try StoreFixture()
        let root = fixture.folder.path + "/mounted"
        try TemporaryFolder.makeFolder(root)
        try #require(mount("none", root, "ramfs", 0, nil) == 0, "error \(errno)")
        defer { umount2(root, Int32(MNT_DETACH)) }
        let place = StorageNamespace(domain: "fileSystem", directory: root + "/values")
        let key = try fixture.key("a", in: place)
        var revisions: Set<UInt64> = []
        for bytes in [[1], [1], [2]] as [[UInt8]] {
            try fixture.store.set(key, to: bytes.span.bytes, attributes: ValueAttributes(versionTag: "1"))
            for _ in 0..<2 {
                let found = try #require(try fixture.revisioned(key))
                #expect(found.bytes == bytes && found.attributes.kept == ValueAttributes())
                #expect(found.attributes.size == 1 && found.revision != 0)
                revisions.insert(found.revision)
            }
        }
        #expect(revisions.count == 3)
        let revision = try #require(revisions.first)
        for condition in [WriteCondition.absent, .revision(revision)] {
            let error = #expect(throws: StorageError.self) {
                try fixture.set(key, [3], if: condition)
            }
            #expect(error?.code == .unsupported && error?.message.contains("no extended attributes") == true)
        }
    }
}
