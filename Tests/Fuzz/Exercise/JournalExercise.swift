import ByteCoding
import FoundationEssentials
import LocalDataAPI
import ReaderExercise

@testable import DurableFiles
@testable import HostStores
@testable import LocalDataHost

/// Journals. Those that end in a checksum are read unchanged, and with the right checksum, so that changed bytes get
/// past it.
enum JournalExercise {
    static func run(_ bytes: [UInt8]) throws {
        try checkIntent(bytes)
        try checkBatch(bytes)
        if bytes.count > 8 {
            let content = bytes.dropLast(8)
            let sum = StableHash.of(Array(content))
            let digits = (0..<8).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
            try checkIntent(content + digits.reversed())
            try checkBatch(content + digits)
        }
        try checkStaged(Data(bytes))
        try checkPayload(Data(bytes))
    }

    private static func checkIntent(_ bytes: [UInt8]) throws {
        guard bytes.count >= IntentRecord.headSize else {
            let empty = IntentID(created: 0, random: 0)
            let record = try? IntentRecord(Data(bytes), expected: empty, path: "input")
            return try require(record == nil, "an intent is read from less than its head")
        }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        let id = IntentID(created: Int64(bitPattern: number(16..<24)), random: number(24..<32))
        guard let record = try? IntentRecord(Data(bytes), expected: id, path: "input") else { return }
        try require(record.encoded().elementsEqual(bytes), "an intent that was read is written as other bytes")
        _ = IntentID(id.description)
    }

    private static func checkBatch(_ bytes: [UInt8]) throws {
        _ = BatchJournal.isLater(bytes)
        guard let journal = BatchJournal(bytes) else { return }
        guard let again = BatchJournal(journal.encoded) else {
            throw Violation("a batch journal that was written is not read")
        }
        try require(again.encoded == journal.encoded, "a batch journal that was written is read as another one")
        try require(journal.changes.allSatisfy { journal.places.indices.contains($0.place) }, "a place is missing")
    }

    private static func checkStaged(_ bytes: Data) throws {
        let address = StorageAddress(StorageNamespace(domain: "userDefaults", scope: ""), name: "a")
        guard let record = try? StagedRecord(bytes, at: address) else { return }
        let again = try StagedRecord(record.encoded, at: address)
        try require(again == record, "a staged change that was written is read as another one")
    }

    private static func checkPayload(_ bytes: Data) throws {
        let id = IntentID(created: 1, random: 2)
        guard let intent = try? BatchIntent(bytes, of: id) else { return }
        let again = try BatchIntent(intent.encoded(), of: id)
        try require(
            again.subject(isExact: true) == intent.subject(isExact: true) && again.isDecided == intent.isDecided,
            "a batch's entry that was written is read as another one")
    }

    static func samples() throws -> [[UInt8]] {
        let payload =
            #"{"isDecided":true,"stores":[{"name":"s","identity":18446744073709551615,"folder":"/x","count":1}]}"#
        let intents = ["", payload].map {
            IntentRecord(
                id: IntentID(created: 1_700_000_000_000_000_000, random: 0x0123_4567_89AB_CDEF), kind: "batch",
                subject: "a batch of 1 changes in 'ä'", owner: 4711, payload: Data($0.utf8))
        }
        var journal = BatchJournal(id: "0123456789abcdef")
        let empty = journal.encoded
        journal.places = [
            BatchJournal.Place("/data/a", root: "/data"), BatchJournal.Place("/other", root: "/data"),
        ]
        journal.changes = [
            BatchJournal.Change(place: 0, hasContent: true, path: Array("a/b".utf8)),
            BatchJournal.Change(place: 1, hasContent: false, path: Array("c".utf8)),
        ]
        let address = StorageAddress(StorageNamespace(domain: "d", scope: "s", directory: "/y"), name: "n")
        let staged = [
            StagedRecord(value: nil, replaced: nil, address: address),
            StagedRecord(value: Data([1, 2]), replaced: 3, address: address),
            StagedRecord(value: nil, isBeside: true, replaced: 4, address: address),
        ]
        let undecided = #"{"isDecided":false,"stores":[{"name":"s","identity":1,"count":9}]}"#
        return try intents.map { Array(try $0.encoded()) } + [
            empty, journal.encoded, Array(payload.utf8), Array(undecided.utf8),
        ]
            + staged.map { Array($0.encoded) }
    }
}
