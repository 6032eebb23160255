import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("IntentID")
struct IntentIDTests {
    @Test("sorts by creation time, as a text too, and is unique")
    func order() async throws {
        let ids = (0..<1000).map { _ in IntentID.next() }
        #expect(ids == ids.sorted())
        #expect(ids.map(\.description) == ids.map(\.description).sorted())
        let all = try await JournalScratch.atOnce(8) { _ in (0..<500).map { _ in IntentID.next() } }.flatMap(\.self)
        #expect(Set(all.map(\.created)).count == all.count)
    }

    @Test("is read from its text")
    func text() {
        for id in [IntentID.next(), IntentID(created: 0, random: 0), IntentID(created: .max, random: .max)] {
            #expect(IntentID(id.description) == id)
            #expect(id.description.utf8.count == 33)
        }
    }

    @Test(
        "is read from no other text",
        arguments: [
            "", "-", "0-0", "0000000000000000-000000000000000", "0000000000000000-000000000000000G",
            "000000000000000A-0000000000000000", "8000000000000000-0000000000000000",
            "-000000000000001-0000000000000000", "+000000000000001-0000000000000000",
            "0000000000000000-0000000000000000-", "0000000000000000_0000000000000000",
        ])
    func otherTexts(_ text: String) { #expect(IntentID(text) == nil) }
}
