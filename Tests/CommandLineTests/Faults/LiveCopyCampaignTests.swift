import FoundationEssentials
import Glibc
import Testing

/// The move that follows a copy while programs went on, disturbed at every one of its calls. All points with
/// `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("Moves after live copies, under faults")
struct LiveCopyCampaignTests {
    private struct Move: CustomTestStringConvertible {
        let testDescription = "store copy --move after a copy"
    }

    private static let words = ["store", "copy", "sqlite", "file", "--domain", "userDefaults"]
    private static let wanted = ["kept": "first", "removed": "first", "set": "second", "set-later": "second"]

    private static func home() throws -> Home {
        let home = try Home()
        let ending = try home.shell(
            """
            ld-host plugins list > out
            for name in kept set set-later removed; do ld-host set userDefaults/$name first; done
            ld-host \(words.joined(separator: " "))
            ld-host set userDefaults/set second
            ld-host rm userDefaults/removed
            ld-host config set domains.userDefaults file
            ld-host set userDefaults/set-later second
            """)
        try #require(ending.status == 0, "\(ending.errors)")
        return home
    }

    @Test("a fault at any call loses no later state, and the next run completes the move")
    func campaign() throws {
        let home = try Self.home()
        let disturbed = try DisturbedHome(home, Self.words + ["--move"])
        try FaultCampaign(operation: Move(), sample: 6).run(fewest: 20, in: { disturbed }) { run, what in
            if !run.mode.kills {
                #expect(run.ending.status == 0 || run.ending.errors.contains("ld-host: "), "no message; \(what)")
            }
            let early = try values(home, "file")
            for (name, value) in Self.wanted where name != "set" { #expect(early[name] == value, "\(name); \(what)") }
            let again = try disturbed.run()
            #expect(again.status == 0, "cannot be completed: \(again.errors); \(what)")
            #expect(try values(home, "file") == Self.wanted, "\(what)")
            #expect(try values(home, "sqlite") == [:], "\(what)")
            #expect(try disturbed.debris() == [], "\(what)")
        }
    }

    /// The values in a store, by their names.
    private func values(_ home: Home, _ store: String) throws -> [String: String] {
        let ending = try home.run("-c", "domains.userDefaults=\(store)", "export", "userDefaults/")
        try #require(ending.status == 0, "\(ending.errors)")
        let entries = try JSONDecoder().decode([String: KeyHome.Entry].self, from: Data(ending.output))
        return entries.mapValues { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
