import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

extension FullStoreTests {
    /// A value as a bulk read returns it.
    private struct Seen: Equatable {
        let name: String
        let value: Data?
        let owner: String?
        let size: UInt64?
    }

    /// A change whose bytes are given as text.
    private struct Given {
        let name: String
        let text: String?
        var owner: String?
        var mark: UInt64?
    }

    private func read(
        prefix: String = "", after: String? = nil, largest: Int = .max, upTo most: Int = 99
    ) throws -> (values: [Seen], marks: [String: UInt64]) {
        var (values, marks) = ([Seen](), [String: UInt64]())
        try store.forEachValue(in: place, prefix: prefix, after: after, largest: largest) { value in
            let (name, attributes) = (String(decoding: value.name, as: UTF8.self), value.makeAttributes())
            values.append(
                Seen(
                    name: name, value: value.value.map { Data($0) }, owner: attributes?.owner, size: attributes?.size))
            marks[name] = value.mark
            return values.count < most
        }
        return (values, marks)
    }

    private func apply(_ changes: [Given]) throws -> [Int] {
        let list = BulkChangeList(capacity: changes.count)
        let number = list.add(place)
        var lent: [UnsafeMutableRawBufferPointer] = []
        defer { for bytes in lent { bytes.deallocate() } }
        func lend(_ text: String) -> UnsafeRawBufferPointer {
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
            bytes.copyBytes(from: text.utf8)
            lent.append(bytes)
            return UnsafeRawBufferPointer(bytes)
        }
        for change in changes {
            let attributes = change.owner.map { list.add(ValueAttributes(owner: $0)) }
            list.add(
                number, lend(change.name), change.text.map { lend($0) }, attributes: attributes, expected: change.mark)
        }
        #expect(list.count == changes.count)
        return try store.apply(list)
    }

    @Test("bulk changes arrive unchanged, and bulk reads return the attributes")
    func bulk() throws {
        #expect(try read().values.isEmpty)
        #expect(
            try apply([
                Given(name: "b2", text: "two"), Given(name: "b1", text: "", owner: "me"), Given(name: "a", text: "1"),
                Given(name: "é", text: "long text", owner: "you"), Given(name: "a", text: nil),
            ]) == [])
        let (b1, b2) = (
            Seen(name: "b1", value: Data(), owner: "me", size: 0),
            Seen(name: "b2", value: Data("two".utf8), owner: nil, size: 3)
        )
        #expect(
            try read(largest: 3).values == [b1, b2, Seen(name: "é", value: nil, owner: "you", size: 9)])
        #expect(try read(prefix: "b").values == [b1, b2])
        #expect(try read(prefix: "b", after: "b1").values == [b2])
        #expect(try read(upTo: 1).values == [b1])
    }

    @Test("changes whose expectation failed are reported by index, and nothing changes")
    func bulkConflicts() throws {
        _ = try apply([Given(name: "a", text: "1"), Given(name: "b", text: "2")])
        let marks = try read().marks
        #expect(Set(marks.values).count == 2)
        #expect(
            try apply([
                Given(name: "a", text: "new", mark: marks["a"]), Given(name: "b", text: nil, mark: marks["a"]),
                Given(name: "c", text: "new", mark: 0), Given(name: "a", text: "new", mark: 0),
            ]) == [1, 3])
        #expect(try read().marks == marks)
        #expect(try apply([Given(name: "a", text: nil, mark: marks["a"]), Given(name: "c", text: "", mark: 0)]) == [])
        #expect(try read().values.map(\.name) == ["b", "c"])
    }

    @Test("bulk changes that fail change nothing, and an index without a change is refused")
    func bulkFailures() throws {
        let error = try #require(throws: StorageError.self) {
            try apply([Given(name: "a", text: "1"), Given(name: "full", text: "1")])
        }
        #expect(error.code == .noSpace && error.message == "the store is full")
        let odd = try #require(throws: StorageError.self) {
            try apply([Given(name: "a", text: "1"), Given(name: "nonsense", text: "1")])
        }
        #expect(odd.code == .corrupt && odd.message.contains("change 2 of 2"))
        #expect(try read().values.isEmpty)
        #expect(throws: StorageError.valueTooLarge) {
            try apply([Given(name: "a", text: String(repeating: "x", count: 8 << 20 + 1))])
        }
        #expect(throws: StorageError.invalidAddress) { try apply([Given(name: "", text: "1")]) }
    }
}
