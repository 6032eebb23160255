import CLocalData
import FoundationEssentials
import Testing
@testable import HostPlugins
@testable import LocalDataAPI
@testable import LocalDataHost

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
