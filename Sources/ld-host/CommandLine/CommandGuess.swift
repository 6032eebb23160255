internal import LocalDataAPI

/// What somebody may have meant by words that are no command. It names no command that removes something, unless that
/// is what the words say.
struct CommandGuess {
    let hint: String

    /// Words of other tools, and where to look.
    private static let others: [String: String] = [
        "cat": "get", "show": "get", "read": "get", "print": "get", "put": "set", "write": "set", "store": "set",
        "add": "set", "stat": "ls", "dir": "ls", "list": "ls", "find": "ls", "du": "audit", "delete": "rm", "del": "rm",
        "remove": "rm", "erase": "rm", "settings": "config show", "configure": "config set", "check": "doctor",
        "fsck": "doctor", "load": "import", "dump": "export", "save": "backup", "daemon": "sync watch",
        "serve": "pipe", "rename": "mv", "move": "mv", "copy": "cp",
        "edit": "config edit", "join": "sync join", "invite": "sync invite", "devices": "sync devices",
    ]

    init(_ words: [String]) {
        let names = Command.all.map(\.name)
        let isSafe = { (name: String) in Command.all.contains { $0.name == name && !$0.removes } }
        let word = words[0].lowercased()
        // The second word of some commands, or a group's name in another form.
        let seconds = names.filter { $0.split(separator: " ").dropFirst().contains { $0 == word } }
        let groups = Set(names.filter { $0.contains(" ") }.map { String($0.prefix { $0 != " " }) }).sorted()
        let others = Self.others[word] ?? Self.misspelt(word).flatMap { Self.others[$0] }
        let group = EditDistance.nearest(to: word, in: groups, within: word.count > 4 ? 2 : 1)
        if let group, words.count > 1, names.contains("\(group) \(words[1])"), isSafe("\(group) \(words[1])") {
            hint = "did you mean '\(group) \(words[1])'?"
        } else if let others {
            hint = "see: ld-host help \(others)"
        } else if !seconds.isEmpty {
            hint =
                seconds.count == 1
                ? "see: ld-host help \(seconds[0])" : "use one of: \(seconds.joined(separator: ", "))"
        } else if let near = EditDistance.nearest(
            to: word, in: names.filter(isSafe) + groups, within: word.count > 3 ? 2 : 1)
        {
            hint = groups.contains(near) ? "see: ld-host help \(near)" : "did you mean '\(near)'?"
        } else {
            hint = "run: ld-host help"
        }
    }

    /// The word of another tool that a word of some length is but for one letter.
    private static func misspelt(_ word: String) -> String? {
        word.count > 4 ? EditDistance.nearest(to: word, in: others.keys.sorted(), within: 1) : nil
    }
}
