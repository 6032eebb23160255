import FoundationEssentials
import TestSupport
import Testing

@Suite("The demonstration")
struct DemonstrationTests {
    private static let hasLanguages = FileManager.default.fileExists(
        atPath: "/usr/share/iso-codes/json/iso_639-3.json")

    @Test("Examples/demo.sh stores Debian's languages through one plugin and then another", .enabled(if: hasLanguages))
    func demo() throws {
        let ending = try Home().run("/bin/sh", ["\(Repository.root)/Examples/demo.sh", BuiltProducts.folder])
        #expect(ending.status == 0, "\(ending.errors)")
        let lines = ending.text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("imported 7910 values into userDefaults:languages") })
        #expect(lines.contains("7910"))
        let finnish = #"{"alpha_2":"fi","alpha_3":"fin","name":"Finnish","scope":"I","type":"L"}"#
        // The SQLite store returns it before the swap and after the way back; then one process gets it from all three
        // stores.
        #expect(lines.count { $0 == finnish } == 2, "\(ending.text)")
        #expect(lines.count { $0.hasSuffix("fin: \(finnish)") } == 3, "\(ending.text)")
        #expect(lines.contains("7910 languages are in store 'sqlite'"))
        #expect(lines.contains("7910 languages are in store 'file'"))
        #expect(lines.contains("7910 languages are in store 'memory'"))
        // What the programs read under which the store was switched.
        #expect(lines.contains { $0.hasSuffix(" right") }, "\(ending.text)")
        #expect(!lines.contains { $0.hasSuffix(" wrong") }, "\(ending.text)")
    }
}
