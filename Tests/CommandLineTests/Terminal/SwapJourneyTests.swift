import FoundationEssentials
import Testing

@Suite("The swap of a store, at a terminal", .timeLimit(.minutes(3))) struct SwapJourneyTests {
    /// The output of a command at a terminal, as one line.
    private func typed(_ home: Home, _ arguments: String..., status: Int32 = 0) throws -> String {
        let terminal = try PseudoTerminal(home, arguments)
        #expect(terminal.end() == status, "\(arguments): \(terminal.text)")
        return terminal.text.split { $0.isWhitespace }.joined(separator: " ")
    }

    @Test("no step reports a value as absent that is stored anywhere")
    func journey() throws {
        let home = try Home()
        _ = try typed(home, "init", "--yes")
        _ = try typed(home, "config", "set", "domains.userDefaults", "file")
        _ = try typed(home, "set", "userDefaults/theme", "dark")
        _ = try typed(home, "set", "userDefaults:suite/size", "large")
        _ = try typed(home, "set", "fileSystem/profile", "{\"a\":1}")
        let advice = "ld-host store copy file sqlite --domain userDefaults --move"
        #expect(try typed(home, "config", "set", "domains.userDefaults", "sqlite").contains(advice))
        for key in ["userDefaults/theme", "userDefaults:suite/size"] {
            let absent = try typed(home, "get", key, status: 2)
            #expect(absent.contains("store 'file' has it") && absent.contains(advice))
        }
        #expect(try typed(home, "get", "fileSystem/profile") == "{\"a\":1}")
        for command in [["ls"], ["ls", "userDefaults"], ["export"], ["export", "userDefaults"]] {
            let terminal = try PseudoTerminal(home, command)
            #expect(terminal.end() == 0)
            #expect(terminal.text.contains("still holds 2 values of 'userDefaults'"), "\(command): \(terminal.text)")
        }
        #expect(try typed(home, "doctor", status: 2).contains(advice))
        _ = try typed(home, "store", "copy", "file", "sqlite", "--domain", "userDefaults", "--move")
        #expect(try typed(home, "get", "userDefaults/theme") == "dark")
        #expect(try typed(home, "get", "userDefaults:suite/size") == "large")
        #expect(try typed(home, "get", "fileSystem/profile") == "{\"a\":1}")
        #expect(try typed(home, "ls") == "fileSystem:documents/profile userDefaults/theme userDefaults:suite/size")
        #expect(try !typed(home, "doctor").contains("!!"))
    }
}
