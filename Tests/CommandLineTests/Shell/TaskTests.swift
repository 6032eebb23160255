import TestSupport
import Testing

/// What an operator wants to do is found in two look-ups: the list of commands, and one page.
@Suite("Tasks of an operator") struct TaskTests {
    struct Task: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// What stands in the list of commands.
        let listed: String
        /// The second look-up, and what stands there.
        let page: [String]
        let answer: String

        init(_ task: String, _ listed: String, _ page: [String], _ answer: String) {
            (testDescription, self.listed, self.page, self.answer) = (task, listed, page, answer)
        }
    }

    static let tasks = [
        Task("set a value", "set ADDRESS [VALUE]", ["help", "set"], "VALUE is text."),
        Task("get a value", "get ADDRESS", ["help", "get"], "Prints the value's bytes unchanged."),
        Task("list what is stored", "ls [DOMAIN", ["help", "ls"], "Prints one address per line"),
        Task("type a secret at a prompt", "set ADDRESS", ["help", "set"], "hides the input if it is a secret"),
        Task("let a value expire", "set ADDRESS", ["help", "set"], "--expires WHEN"),
        Task("see when it expires", "ls [DOMAIN", ["help", "ls"], "when a value expires"),
        Task(
            "see which store serves what, and why", "doctor", ["man", "ld-host-check"],
            "which plugin serves which domain"),
        Task("switch a store", "store copy FROM TO", ["man", "ld-host-store"], "Replace the store of a domain"),
        Task("back up", "backup FILE", ["help", "backup"], "Writes the values of all domains"),
        Task("back up from cron", "backup FILE", ["man", "ld-host-backup"], "--passphrase-fd 3 3< passphrase"),
        Task("restore", "restore FILE", ["help", "restore"], "all values that the stores do not have"),
        Task("plan a restore", "restore FILE", ["help", "restore"], "--plan"),
        Task("rotate keys", "keys rotate [ID]", ["help", "keys rotate"], "new values"),
        Task("change a passphrase", "keys", ["man", "ld-host-keys"], "Change the passphrase"),
        Task("export", "export [DOMAIN", ["help", "export"], "JSON"),
        Task("import", "import [DOMAIN", ["help", "import"], "JSON"),
        Task("let git keep its passwords here", "credential git", ["man", "ld-host-serve"], "credential.helper"),
        Task("let a device join", "sync invite", ["help", "sync invite"], "code"),
        Task("see conflicts", "sync conflicts", ["help", "sync conflicts"], "values that lost a conflict"),
        Task("undo a migration", "migrate rollback ID", ["help", "migrate rollback"], "ndo"),
        Task("find damage", "doctor", ["help", "doctor"], "--scrub"),
        Task("remove a scope", "rm ADDRESS...", ["help", "rm"], "--recursive"),
        Task("rename a key", "mv FROM TO", ["help", "mv"], "another address"),
        Task("see what settings exist", "config show", ["man", "ld-host-config.5"], "domains"),
    ]

    @Test("are answered by the list of commands and one page", arguments: tasks)
    func answer(_ task: Task) throws {
        let home = try Home()
        let list = try home.run("help")
        #expect(list.text.contains(task.listed))
        let page = try home.shell(
            "ld-host \(task.page.joined(separator: " "))"
                + (task.page[0] == "man" ? " | mandoc -a -T ascii | col -bx" : ""))
        #expect(page.status == 0, "\(page.errors)")
        let text = page.text.split { $0.isWhitespace }.joined(separator: " ")
        #expect(text.contains(task.answer), "\(page.text)")
    }
}
