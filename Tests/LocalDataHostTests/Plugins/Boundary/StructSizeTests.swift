import CLocalData
import Testing
@testable import HostPlugins
@testable import LocalDataHost
@testable import LocalDataPluginAPI

/// A struct of a later minor version: it has further members at the end, which this side knows.
struct Later<Known> {
    var known: Known
    var later: (UInt, UInt) = (16, 16)

    init(_ known: Known) { self.known = known }
}

@Suite("the sizes of structs at the boundary") struct StructSizeTests {
    private static let least = Int(ld_sync_least_size)

    /// The accepted sizes, each with the part of the struct that is read, and the refused ones.
    @Test("a struct is read as far as both sides know it, and only if its size is one that a struct can have")
    func sizes() {
        for size in [least, least + 8, least + 16, 4096] {
            // The memory after the claimed size belongs to someone else and must not be copied.
            let bytes = Self.bytes(claiming: size)
            defer { bytes.deallocate() }
            var copy = Later(ld_sync())
            copy.later = (0, 0)
            #expect(BoundaryStruct.copy(bytes.baseAddress, into: &copy, least: least))
            #expect(Int(copy.known.size) == size && copy.known.largest_record == Self.filling)
            #expect(copy.later.0 == (size >= least + 8 ? UInt(Self.filling) : 0), "\(size)")
            #expect(copy.later.1 == (size >= least + 16 ? UInt(Self.filling) : 0), "\(size)")
            var known = ld_sync()
            #expect(BoundaryStruct.copy(bytes.baseAddress, into: &known, least: least))
            #expect(known.largest_record == Self.filling)
        }
        for size in [0, 4, 8, least - 8, least - 1, least + 1, least + 4, 4100, 4104, Int(UInt32.max)] {
            let bytes = Self.bytes(claiming: size)
            defer { bytes.deallocate() }
            var copy = ld_sync()
            #expect(!BoundaryStruct.copy(bytes.baseAddress, into: &copy, least: least), "\(size)")
            #expect(copy.size == 0 && copy.largest_record == 0)
            #expect(BoundaryStruct.size(bytes.baseAddress) == UInt32(size))
        }
        let bytes = Self.bytes(claiming: least)
        defer { bytes.deallocate() }
        var copy = ld_sync()
        #expect(!BoundaryStruct.copy(nil, into: &copy, least: least))
        for offset in 1..<8 {
            #expect(!BoundaryStruct.copy(bytes.baseAddress.map { $0 + offset }, into: &copy, least: least))
        }
    }

    private var least: Int { Self.least }

    private static let filling: UInt64 = 0x4141_4141_4141_4141

    private static func bytes(claiming size: Int) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 8)
        bytes.initializeMemory(as: UInt8.self, repeating: 0x41)
        bytes.storeBytes(of: UInt32(truncatingIfNeeded: size), as: UInt32.self)
        return bytes
    }

    @Test("a plugin reads a host of a later minor, and treats one of an impossible size as unknown")
    func hosts() {
        let table = HostTable.shared(for: SilentLog())
        var host = Later(table.pointer.pointee)
        host.known.size = UInt32(MemoryLayout<Later<ld_host>>.size)
        withUnsafePointer(to: &host) { host in
            host.withMemoryRebound(to: ld_host.self, capacity: 1) {
                #expect(HostServices($0).name == "LocalData")
            }
        }
        host.known.size = UInt32(ld_host_least_size) - 8
        #expect(HostServices(&host.known).name == "unknown")
    }
}
