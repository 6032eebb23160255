import FoundationEssentials
import TestSupport
import Testing

/// A later minor version must keep certain parts of an earlier header; the header itself says what may change.
@Suite("The frozen header")
struct FrozenHeaderTests {
    private static let today = "Sources/LocalDataAPI/CLocalData/include/localdata/plugin.h"

    /// Compiles the assertions on layouts and numbers against a header.
    private static func compile(_ header: String, in workspace: Workspace) throws -> ConsoleSession.Outcome {
        try workspace.write(header, to: "localdata/plugin.h")
        return try workspace.run(
            "cc",
            [
                "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I", workspace.path,
                "\(Repository.tests)/PluginFixtures/layout.c",
            ])
    }

    @Test("has the layouts and numbers that were frozen")
    func layout() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let outcome = try Self.compile(Repository.text(Self.today), in: workspace)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("has every struct, function and constant of each earlier minor, word for word", arguments: KeptPlugins.all)
    func declarations(_ kept: KeptPlugins) throws {
        let earlier = try Declarations(Repository.text("Tests/PluginFixtures/Kept/\(kept.abi)/localdata/plugin.h"))
        #expect(earlier.members.count >= 40 && earlier.constants.count >= 120)
        #expect(earlier.lost(in: Declarations(try Repository.text(Self.today))).isEmpty)
    }

    /// A change of the header, and whether the assertions or the declarations detect it.
    struct Change: Sendable, CustomTestStringConvertible {
        let from: String
        let to: String
        var breaksLayout = false
        var breaksText = false

        var testDescription: String { "\(from) -> \(to)" }
    }

    private static let changes = [
        Change(from: "uint32_t latency;", to: "uint64_t latency;", breaksLayout: true, breaksText: true),
        Change(from: "uint32_t enforces;", to: "", breaksLayout: true, breaksText: true),
        Change(
            from: "    uint32_t size;\n    uint32_t remove;", to: "    uint32_t remove;\n    uint32_t size;",
            breaksLayout: true, breaksText: true),
        Change(from: "ld_bytes after, uint64_t limit,", to: "ld_bytes after, uint32_t limit,", breaksText: true),
        Change(from: "LD_ERROR_CONFLICT 49", to: "LD_ERROR_CONFLICT 51", breaksLayout: true, breaksText: true),
        Change(from: "localdata.store.lock/1", to: "localdata.store.lock/2", breaksText: true),
        Change(
            from: "ld_sync_least_size = LD_SIZE_THROUGH(ld_sync, close)",
            to: "ld_sync_least_size = LD_SIZE_THROUGH(ld_sync, cancel)", breaksLayout: true),
        // A later minor version may do these.
        Change(
            from: "    ld_status(LD_SENDABLE *repair)(void *self, const ld_sink *sink, const ld_error_sink *error);\n",
            to:
                "    ld_status(LD_SENDABLE *repair)(void *self, const ld_sink *sink, const ld_error_sink *error);\n    void(LD_SENDABLE *later)(void *self);\n"
        ),
        Change(from: "#define LD_ABI_MINOR 1", to: "#define LD_ABI_MINOR 2\n#define LD_LATER 7"),
        Change(from: "typedef struct LD_SENDABLE ld_host_r1 {", to: "typedef struct LD_SENDABLE ld_host_r2 {"),
    ]

    @Test(
        "is guarded: a change that breaks earlier plugins is noticed, and one that does not is allowed",
        arguments: changes)
    func guarded(_ change: Change) throws {
        let header = try Repository.text(Self.today)
        let changed = header.replacing(change.from, with: change.to)
        try #require(changed != header, "the header has no '\(change.from)'")
        let workspace = try Workspace()
        defer { workspace.remove() }
        let outcome = try Self.compile(changed, in: workspace)
        #expect((outcome.status != 0) == change.breaksLayout, "\(outcome.errors)")
        #expect(Declarations(header).lost(in: Declarations(changed)).isEmpty != change.breaksText)
    }

    @Test(
        "of each earlier minor builds the examples, which the current host loads", arguments: KeptPlugins.all)
    func examples(_ kept: KeptPlugins) throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        for example in ["CBackend/cbackend.c", "CMigration/cmigration.c", "CSync/csync.c"] {
            let library = try workspace.build("\(Repository.root)/Examples/\(example)", header: kept.folder)
            let tested = try workspace.host("plugins", "test", library)
            #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
            #expect(try workspace.host("plugins", "inspect", library).output.contains("ABI \(kept.abi)\n"))
        }
    }
}

/// What a header declares, without its comments.
private struct Declarations {
    /// The members of each struct, by the name of its type.
    var members: [String: [String]] = [:]
    /// Constants and other types by their names.
    var constants: [String: String] = [:]

    init(_ header: String) {
        let code = header.replacing(/(?s)\/\*.*?\*\//, with: " ").replacing("\\\n", with: " ")
        for line in code.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, words[0] == "#define" || words[0] == "typedef", words[1] != "LD_ABI_MINOR",
                words[1] != "struct"
            else { continue }
            constants[words[0] == "typedef" ? String(words[2]) : String(words[1]), default: ""] += Self.oneLine(line)
        }
        for match in code.matches(of: /(?s)typedef struct (?:LD_SENDABLE )?ld_\w+ \{(.*?)\n\} (ld_\w+);/) {
            members[String(match.2)] = match.1.split(separator: ";").map(Self.oneLine).filter { !$0.isEmpty }
        }
    }

    private static func oneLine(_ text: some StringProtocol) -> String {
        text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }

    /// The parts that another header lacks or declares differently.
    func lost(in other: Declarations) -> [String] {
        members.filter { name, known in !(other.members[name] ?? []).starts(with: known) }.map(\.key)
            + constants.filter { name, text in other.constants[name] != text }.map(\.key)
    }
}
