import ByteCoding
import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("IntentRecord")
struct IntentRecordTests {
    private let record = IntentRecord(
        id: IntentID(created: 0x0102_0304_0506_0708, random: 0x1112_1314_1516_1718), kind: "reseal",
        subject: "seal the store 'kéys' once", owner: 4711, payload: Data([0, 255, 10]))

    private func read(_ bytes: Data) throws(StorageError) -> IntentRecord {
        try IntentRecord(bytes, expected: record.id, path: "/journal/x.intent")
    }

    @Test("is encoded exactly as its format says")
    func format() throws {
        let bytes = try record.encoded()
        let head: [UInt8] = [
            0x89, 0x4C, 0x44, 0x4A, 1, 6, 0, 27, 0, 0, 0x12, 0x67, 0, 0, 0, 3,  //
            1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
        ]
        #expect(Array(bytes.prefix(32)) == head)
        let parts = Array("resealseal the store 'kéys' once".utf8) + [0, 255, 10]
        #expect(Array(bytes.dropFirst(32).dropLast(8)) == parts)
        #expect(try read(bytes) == record)
        #expect(try read((Data([1, 2, 3]) + bytes).dropFirst(3)) == record, "a slice with indices of its own")
    }

    @Test(
        "has the published checksums of FNV-1a",
        arguments: [("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8)]
            as [(String, UInt64)])
    func sum(text: String, expected: UInt64) { #expect(StableHash.of(Array(text.utf8)) == expected) }

    @Test("is reported as damaged when any part of it is missing or anything follows it")
    func truncations() throws {
        let bytes = try record.encoded()
        for count in 0..<bytes.count {
            #expect(throws: StorageError.corrupt, "\(count) bytes") { try read(bytes.prefix(count)) }
        }
        #expect(throws: StorageError.corrupt) { try read(bytes + [0]) }
    }

    @Test("is reported as damaged when any bit of it is changed, or as of another version")
    func flips() throws {
        let bytes = try record.encoded()
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            let error = try #require(throws: StorageError.self, "bit \(bit)") { try read(changed) }
            #expect(error.code == (bit / 8 == 4 ? .unsupported : .corrupt), "bit \(bit)")
            #expect(error.message.contains("/journal/x.intent"))
        }
    }

    @Test("is reported as damaged under the name of another intent")
    func otherName() throws {
        let bytes = try record.encoded()
        let error = try #require(throws: StorageError.self) {
            try IntentRecord(bytes, expected: IntentID(created: 1, random: 2), path: "/journal/x.intent")
        }
        #expect(error.code == .corrupt)
        #expect(error.message.contains(record.id.description))
    }

    @Test("is refused when a part is too large, and taken at the limit")
    func limits() throws {
        func record(kind: Int, subject: Int) -> IntentRecord {
            IntentRecord(
                id: self.record.id, kind: String(repeating: "k", count: kind),
                subject: String(repeating: "s", count: subject), owner: 1, payload: Data())
        }
        let largest = record(kind: 255, subject: 65_535)
        #expect(try read(largest.encoded()) == largest)
        #expect(throws: StorageError.valueTooLarge) { try record(kind: 256, subject: 0).encoded() }
        #expect(throws: StorageError.valueTooLarge) { try record(kind: 1, subject: 65_536).encoded() }
        var large = self.record
        large.payload = Data(count: IntentRecord.largestPayload + 1)
        #expect(throws: StorageError.valueTooLarge) { try large.encoded() }
    }
}
