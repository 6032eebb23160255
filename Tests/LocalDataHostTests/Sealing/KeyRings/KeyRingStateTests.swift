import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

@Suite("a stored key ring") struct KeyRingStateTests {
    private func state(keys: Int = 3, places: Int = 3) throws -> KeyRingState {
        let entries = try (0..<keys).map { number in
            KeyRingState.Entry(
                id: try #require(KeyID(String(repeating: "0", count: 24) + String(0x1000_0000 + number, radix: 16))),
                use: number == 0 ? .active : number == 1 ? .disabled : .decryptOnly,
                created: Int64(number) * 1_000_000_007 - 1,
                material: try SecretBytes(count: 32 + number % 33) { (bytes) throws(StorageError) in
                    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: number + index) }
                })
        }
        let found = (0..<places).map { number in
            SealedPlace(
                store: "store \(number)", identity: .max - UInt64(number),
                namespace: StorageNamespace(
                    domain: "fileSystem", scope: "/ä/same", directory: number == 0 ? nil : "/ä/\(number)"))
        }
        return KeyRingState(entries: entries, places: Set(found))
    }

    private func encode(_ state: KeyRingState) throws -> Data { try state.encoded().withBytes { Data($0) } }

    private func decode(_ bytes: Data) throws -> KeyRingState {
        try bytes.withBuffer { (bytes) throws(StorageError) in try KeyRingState(decoding: bytes, of: "the ring") }
    }

    private func bytes(_ entry: KeyRingState.Entry) -> Data { entry.material.withBytes { Data($0) } }

    @Test("it comes back unchanged", arguments: [(0, 0), (1, 0), (3, 3), (KeyRingState.mostKeys, 1), (0, 500)])
    func roundTrip(_ keys: Int, _ places: Int) throws {
        let state = try state(keys: keys, places: places)
        let again = try decode(encode(state))
        #expect(again == state)
        #expect(again.places.count == places)
        for (entry, other) in zip(state.entries, again.entries) {
            #expect(entry.created == other.created && bytes(entry) == bytes(other))
        }
    }

    @Test("a ring with too many keys is not written")
    func tooManyKeys() throws {
        let state = try state(keys: KeyRingState.mostKeys + 1)
        #expect(throws: StorageError.valueTooLarge) { try state.encoded() }
    }

    @Test("a ring that is truncated anywhere is damaged, and so is one followed by more bytes")
    func truncated() throws {
        let bytes = try encode(state())
        for count in 0..<bytes.count {
            let error = try #require(throws: StorageError.self) { try decode(Data(bytes.prefix(count))) }
            #expect(error.code == .corrupt && error.message.contains("the ring is damaged"))
        }
        #expect(throws: StorageError.corrupt) { try decode(bytes + [0]) }
    }

    @Test("a later version is reported as such; another mark, another use or a repeated key is damage")
    func contradictions() throws {
        let bytes = try encode(state())
        func changed(_ offset: Int, _ value: UInt8) -> Data {
            var copy = bytes
            copy[offset] = value
            return copy
        }
        let later = try #require(throws: StorageError.self) { try decode(changed(4, 2)) }
        #expect(later.code == .unsupported && later.message.contains("version 2"))
        let (first, second) = (8, 8 + 16 + 1 + 8 + 2 + 32)
        for damage in [changed(0, 0), changed(first + 16, 0), changed(first + 16, 4), changed(second + 16, 1)] {
            #expect(throws: StorageError.corrupt) { try decode(damage) }
        }
        #expect(throws: StorageError.corrupt) { try decode(changed(second + 15, bytes[first + 15])) }
    }

    @Test("no bytes crash the program", arguments: 0..<50)
    func random(_ seed: Int) throws {
        var bytes = try encode(state())
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            bytes[Int.random(in: 8..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            if let state = try? decode(bytes) { #expect(state.entries.count { $0.use == .active } <= 1) }
        }
    }

    @Test("promoting a key leaves one active")
    func promote() throws {
        var state = try state()
        state.promote(state.entries[2].id)
        #expect(state.entries.map(\.use) == [.decryptOnly, .disabled, .active])
    }
}
