import HostClients
import Testing

@Suite("CredentialName")
struct CredentialNameTests {
    @Test(
        "writes text unchanged, and escapes everything else",
        arguments: [
            ([], "%"), (Array("ann@example.com".utf8), "ann@example.com"), (Array("ü".utf8), "ü"),
            (Array("%".utf8), "%25"), (Array("a%41".utf8), "a%2541"), ([0], "%00"), ([0x0A, 0x7F], "%0A%7F"),
            ([0xFF], "%FF"), ([0xC3, 0xBC, 0xFF], "%C3%BC%FF"), (Array("a/b:c".utf8), "a/b:c"),
        ])
    func examples(_ bytes: [UInt8], _ name: String) {
        #expect(CredentialName.encode(bytes) == name)
        #expect(CredentialName.decode(name) == bytes)
    }

    @Test("escapes the characters that the caller adds")
    func special() {
        #expect(CredentialName.encode(Array("a/b:c".utf8), escaping: "/:") == "a%2Fb%3Ac")
    }

    @Test("every pair of bytes has a distinct name, which is text and decodes to them")
    func pairs() {
        var names: Set<[UInt8]> = []
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let name = CredentialName.encode([first, second])
                #expect(CredentialName.decode(name) == [first, second])
                #expect(!name.utf8.contains { $0 < 0x20 })
                names.insert(Array(name.utf8))
            }
        }
        #expect(names.count == 65_536)
    }

    @Test("reads other programs' text unchanged", arguments: ["50%", "%zz", "%4", "%4g", "%e9", "100%off"])
    func foreign(_ name: String) { #expect(CredentialName.decode(name) == Array(name.utf8)) }
}
