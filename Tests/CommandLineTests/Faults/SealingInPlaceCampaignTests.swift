import FoundationEssentials
import Testing

/// Values that are sealed in the folder that a plain and a sealed store share, disturbed at every call that changes
/// data, state or configuration. All points with `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for
/// the same `LOCALDATA_SEED`.
@Suite("Values sealed in place under faults", .serialized)
struct SealingInPlaceCampaignTests {
    /// The component of both stores.
    struct Operation: Sendable, CustomTestStringConvertible {
        let component: String
        /// Its option that says where the sealed store is.
        let option: String

        var testDescription: String { "sealing in place, \(component)" }
    }

    /// A number of points that take about 2 s.
    private static let sample = 4
    private static let values: [String: [UInt8]] = [
        "appGroupUserDefaults:team/small": Array("plain text".utf8), "appGroupUserDefaults:team/empty": [],
        // Not copied at once.
        "appGroupUserDefaults:team/large": (0..<1_500_007).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) },
    ]

    @Test(
        "each value stays readable by one of the two stores, and the next run seals the rest",
        arguments: [Operation(component: "file", option: "root"), Operation(component: "sqlite", option: "path")])
    func campaign(_ operation: Operation) throws {
        let home = try Home()
        let (component, option) = (operation.component, operation.option)
        try home.done(
            "config", "set", "stores.sealed",
            """
            {"component":"\(component)","options":{"\(option)":"\(home.path)/data/sealed"},"sealing":"keyFile"}
            """)
        try home.done("config", "set", "domains.appGroupUserDefaults", component)
        for (address, value) in Self.values { try home.done("set", address, "--stdin", input: value) }
        try home.done("config", "set", "domains.appGroupUserDefaults", "sealed")
        let plain = "{\"domains\":{\"appGroupUserDefaults\":\"\(component)\"}}"
        try Data(plain.utf8).write(to: URL(filePath: "\(home.path)/plain.json"))

        let words = ["store", "copy", component, "sealed", "--domain", "appGroupUserDefaults", "--move"]
        let disturbed = try DisturbedHome(home, words)
        try FaultCampaign(operation: operation, sample: Self.sample, most: 1000).run(
            fewest: 10, in: { disturbed }
        ) { run, what in
            if !run.mode.kills {
                #expect(run.ending.status == 0 || run.ending.errors.contains("ld-host: "), "no message; \(what)")
            }
            let sealed = try Self.values.filter { try isThere($0.key, $0.value, home, what) }
            #expect(sealed.count == Self.values.count || run.ending.status != 0, "success without effect; \(what)")
            let again = try disturbed.run()
            #expect(again.status == 0, "cannot be completed: \(again.errors); \(what)")
            for (address, value) in Self.values {
                #expect(try isThere(address, value, home, what), "\(address) is not sealed afterwards; \(what)")
            }
            #expect(try disturbed.debris() == [], "\(what)")
            let plain = try home.shell("grep -rlaF 'plain text' data")
            #expect(plain.text == "", "left in files; \(what)")
        }
    }

    /// Whether a value is sealed; if not, it must be there as it was.
    private func isThere(_ address: String, _ value: [UInt8], _ home: Home, _ what: String) throws -> Bool {
        let sealed = try home.run("get", address)
        if sealed.status == 0 {
            #expect(sealed.output == value, "\(address) is another one; \(what)")
            return true
        }
        let plain = try home.run("get", address, adding: ["LOCALDATA_CONFIG": "\(home.path)/plain.json"])
        #expect(plain.status == 0 && plain.output == value, "\(address) is lost: \(sealed.errors); \(what)")
        return false
    }
}
