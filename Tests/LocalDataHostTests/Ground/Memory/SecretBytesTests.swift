import Glibc
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("Secret bytes")
struct SecretBytesTests {
    @Test("lie in memory that is left out of core dumps")
    func flags() throws {
        let secret = try SecretBytes(count: 5000) { memory in memory.initializeMemory(as: UInt8.self, repeating: 7) }
        #expect(secret.count == 5000)
        let flags = try Self.flags(of: UInt(bitPattern: secret.bytes.baseAddress))
        #expect(flags.contains("dd"), "\(flags)")
        withExtendedLifetime(secret) {}
    }

    @Test("contain the bytes that were filled in, and are cleared if filling fails")
    func content() throws {
        let secret = try SecretBytes(count: 3) { memory in memory.copyBytes(from: [1, 2, 3]) }
        #expect(Array(secret.bytes) == [1, 2, 3])
        #expect(throws: StorageError.notFound) {
            try SecretBytes(count: 3) { (_) throws(StorageError) in throw StorageError(.notFound, "nothing") }
        }
        let copy = try secret.bytes.withMemoryRebound(to: UInt8.self) {
            try SecretBytes(copying: UnsafeRawBufferPointer($0))
        }
        #expect(Array(copy.bytes) == [1, 2, 3])
        withExtendedLifetime(secret) {}
    }

    /// The flags of the mapping that an address is in, see proc_pid_smaps(5).
    private static func flags(of address: UInt) throws -> [Substring] {
        let file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        // The system returns a few mappings at a time.
        while case let count = read(file, &piece, piece.count), count > 0 { bytes += piece[..<count] }
        var isThere = false
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = (words.first ?? "").split(separator: "-").compactMap { UInt($0, radix: 16) }
            if bounds.count == 2 { isThere = bounds[0] <= address && address < bounds[1] }
            if isThere, words.first == "VmFlags:" { return Array(words.dropFirst()) }
        }
        return []
    }
}
