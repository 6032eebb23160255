import FoundationEssentials
import LocalDataAPI
import ReaderExercise

@testable import HostGround
@testable import HostMigration
@testable import HostSealing
@testable import HostStores
@testable import LocalDataHost

/// Key rings, the migration ledger's pages and the records of bulk migrations.
enum RingExercise {
    static func run(_ bytes: Data) throws {
        try checkRing(bytes)
        try checkPage(bytes)
        try checkRecord(bytes)
    }

    private static func checkRing(_ bytes: Data) throws {
        let decode = { (bytes: Data) throws(StorageError) in
            try bytes.withBuffer { (bytes) throws(StorageError) in try KeyRingState(decoding: bytes, of: "the ring") }
        }
        guard let state = try? decode(bytes), state.entries.count <= KeyRingState.mostKeys else { return }
        for entry in state.entries { _ = KeyDescription(entry) }
        let written = try state.encoded().withBytes { Data($0) }
        let again = try decode(written)
        try require(again == state, "a key ring that was written is read as another one")
        let isSame = zip(state.entries, again.entries).allSatisfy { first, second in
            first.created == second.created
                && first.material.withBytes { first in second.material.withBytes { first.elementsEqual($0) } }
        }
        try require(isSame, "a key that was written is read as another one")
        try require(
            again.encoded().withBytes { Data($0) } == written, "a key ring that was read is written as other bytes")
    }

    private static func checkPage(_ bytes: Data) throws {
        guard let address = LedgerPage.address(in: bytes), let page = try? LedgerPage(bytes, of: address) else {
            return
        }
        let again = try LedgerPage(page.encoded(), of: address)
        try require(again.rows == page.rows, "a ledger page that was written is read as another one")
        for row in page.rows {
            _ = row.record
            _ = row.isExpired(at: .max)
            for change in row.changes { _ = try? change.key }
            // Resuming, expiring and rolling back a bulk migration calculates with these.
            if let bulk = row.bulk { _ = (bulk.firstRecord..<bulk.chunks, bulk.chunks + 1, bulk.moved + 1) }
        }
    }

    private static func checkRecord(_ bytes: Data) throws {
        guard let record = try? BulkRecord(bytes, of: "id") else { return }
        let again = try BulkRecord(record.encoded(), of: "id")
        try require(again.items == record.items, "a bulk record that was written is read as another one")
        try require(again.attributes == record.attributes, "attributes that were written are read as others")
    }

    static func samples() throws -> [[UInt8]] {
        let ids = ["00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"].compactMap { KeyID($0) }
        let entries = try zip(ids, [KeyRingState.Use.active, .decryptOnly]).map { id, use in
            KeyRingState.Entry(
                id: id, use: use, created: 1_700_000_000,
                material: try SecretBytes(count: 32) { (memory) throws(StorageError) in
                    memory.initializeMemory(as: UInt8.self, repeating: 7)
                })
        }
        let places = [nil, "/tmp/ä"].map {
            SealedPlace(
                store: "files", identity: 7,
                namespace: StorageNamespace(domain: "fileSystem", scope: "documents", directory: $0))
        }
        let rings = [
            KeyRingState(), KeyRingState(entries: Array(entries.prefix(1))),
            KeyRingState(entries: entries, places: Set(places)),
        ]
        var record = BulkRecord()
        for (number, suffix) in ["a", "ä/b", ""].enumerated() {
            let attributes = number == 0 ? nil : ValueAttributes(contentType: "text/plain", owner: "o\(number)")
            let index = record.number(of: attributes)
            record.items.append(
                BulkRecord.Item(
                    suffix: suffix, flags: [.isChanged], attributes: index, source: .max, destination: UInt64(number)))
        }
        return try rings.map { try $0.encoded().withBytes { Array($0) } }
            + [Array(BulkRecord().encoded()), Array(record.encoded())] + pages()
    }

    private static func pages() throws -> [[UInt8]] {
        let address = "userDefaults/a"
        let encoder = JSONEncoder()
        let policy = String(decoding: try encoder.encode(SecurityPolicy.none), as: UTF8.self)
        let serializer = String(decoding: try encoder.encode(SerializerFormat.json), as: UTF8.self)
        let change =
            #"{"address":"\#(address)","security":\#(policy),"serializer":\#(serializer),"before":1,"after":2,"#
            + #""image":"i","place":{"domain":"d","scope":"s","directory":"/x"}}"#
        let row =
            #"{"id":"m","revision":1,"state":"published","written":[\#(change)],"removed":[\#(change)],"#
            + #""committed":1,"duration":0.5,"expires":9,"bulk":{"source":"a","destination":"b","after":"c","chunks":3,"#
            + #""firstRecord":1,"isOpen":true,"moved":2,"kept":0,"left":0}}"#
        let text = #"{"form":1,"address":"\#(address)","rows":[\#(row)]}"#
        // If the result is not a page, mutations of it test nothing.
        let page = try LedgerPage(Data(text.utf8), of: address)
        return [Array(text.utf8), Array(try page.encoded()), Array(try LedgerPage(of: address).encoded())]
    }
}
