import CLocalData
import FoundationEssentials
import Testing

@testable import LocalDataAPI
@testable import LocalDataHost

/// A struct of a later minor version: it has further members at the end, which this side knows.
private struct Later<Known> {
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

/// Calls a pack with transactions of hosts of other minors.
@Suite("the transaction of a pack") struct PackTransactionSizeTests {
    private static func run(claiming size: UInt32) throws -> (status: Int32, result: String, report: String) {
        let image = try PluginImage(linked: LinkedPack.table.pointer, name: "LinkedPack")
        let pack = try image.openPack(
            "linked-pack", options: [:], folder: "/nowhere", timeout: .seconds(10), log: SilentLog())
        let index = try #require(pack.list.firstIndex { $0.id == "telling" })
        var transaction = Later(ld_migration_transaction())
        transaction.known.size = size
        transaction.known.call = 7
        transaction.known.set = { _, _, _, _ in LD_OK }
        let context = try MigrationContext().boundary()
        var (result, report) = (Data(), Data())
        let status = withUnsafeMutablePointer(to: &result) { result in
            withUnsafeMutablePointer(to: &report) { report in
                var sink = ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: result) { context, bytes in
                    context?.assumingMemoryBound(to: Data.self).pointee.append(
                        Data(bytes.checked ?? .init(start: nil, count: 0)))
                    return 0
                }
                var error = ld_error_sink(size: UInt32(MemoryLayout<ld_error_sink>.size), context: report) {
                    context, code, message, _ in
                    context?.assumingMemoryBound(to: Data.self).pointee
                        .append(Data("\(code): \(message.lenientText)".utf8))
                }
                return context.withUnsafeBytes { context in
                    pack.table.migrate?(
                        pack.table.`self`, index, &transaction.known, ld_bytes(context), &sink, &error) ?? LD_FAILED
                }
            }
        }
        pack.close()
        return (status, String(decoding: result, as: UTF8.self), String(decoding: report, as: UTF8.self))
    }

    @Test("of minor 1 or of a later host is used", arguments: [0, 8, 16])
    func takes(_ more: Int) throws {
        let outcome = try Self.run(claiming: UInt32(ld_migration_transaction_least_size + more))
        #expect(outcome.status == LD_OK && outcome.report.isEmpty, "\(outcome)")
        #expect(outcome.result.contains("\"migratedCount\":3"), "\(outcome)")
    }

    @Test(
        "of an impossible size is refused before it is used", arguments: [0, 8, 64, 80, 92, 4104, UInt32.max])
    func refuses(_ size: UInt32) throws {
        let outcome = try Self.run(claiming: size)
        #expect(outcome.status == LD_FAILED && outcome.result.isEmpty, "\(outcome)")
        #expect(
            outcome.report == "39: a migration was called with a transaction of \(size) bytes; "
                + "expected 88 to 4096, a multiple of 8")
    }
}
