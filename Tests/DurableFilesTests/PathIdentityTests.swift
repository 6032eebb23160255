import DurableFiles
import Glibc
import TestSupport
import Testing

@Suite("the identity of a path") struct PathIdentityTests {
    @Test("is the same for all its spellings, whether it exists or not")
    func spellings() throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        #expect(mkdir("\(path)/real", 0o700) == 0 && symlink("real", "\(path)/link") == 0)
        #expect(PathIdentity("\(path)/real") == PathIdentity("\(path)/link"))
        #expect(PathIdentity("\(path)/real") == PathIdentity("\(path)//link/./../real/"))
        #expect(PathIdentity("\(path)/real/new/file") == PathIdentity("\(path)/link/new/file"))
        #expect(PathIdentity("\(path)/real/new") != PathIdentity("\(path)/real"))
        #expect(PathIdentity("\(path)/real/new") != PathIdentity("\(path)/new"))
    }

    @Test("is the same for all names of a file")
    func files() throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let file = open("\(path)/file", O_CREAT | O_WRONLY, 0o600)
        #expect(file >= 0 && close(file) == 0)
        #expect(link("\(path)/file", "\(path)/hard") == 0 && symlink("file", "\(path)/soft") == 0)
        #expect(PathIdentity("\(path)/file") == PathIdentity("\(path)/hard"))
        #expect(PathIdentity("\(path)/file") == PathIdentity("\(path)/soft"))
        #expect(PathIdentity("\(path)/file") != PathIdentity(path))
    }
}
