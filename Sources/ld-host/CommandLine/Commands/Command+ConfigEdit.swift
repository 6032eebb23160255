internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let configEdit = Command(
        name: "config edit", summary: "edit the configuration file, and check it before it is used",
        details: """
            Opens a copy of the file in the editor that VISUAL or EDITOR names, or in vi. The file is the one that config
            set changes; if it is missing, the copy is what init would write. When the editor ends, the copy is checked,
            and replaces the file in one step if it has no new problem. Otherwise the problem is shown, and on a terminal
            the editor can be opened again; else the file stays as it was, and the copy is kept.
            """
    ) { _, session in
        let draft = try HostConfiguration.draft(flags: session.flags)
        let folder = try TemporaryFolder()
        let copy = "\(folder.path)/config.json"
        do {
            try Data(draft.text.utf8).write(to: URL(filePath: copy))
            while true {
                try runEditor(on: copy)
                let text = try edited(copy)
                guard text != draft.text else {
                    Output.remark("ld-host: nothing was changed")
                    break
                }
                do {
                    let configuration = (try? session.uncheckedConfiguration()) ?? HostConfiguration()
                    try configuration.replace(draft, by: text, flags: session.flags) {
                        (next, former) throws(StorageError) in
                        try examine(next, former, insists: true)
                    }
                } catch let error as StorageError where error.code == .invalidConfiguration && isAskable {
                    Output.complain(error)
                    guard try wantsMore() else { throw StorageError(.cancelled, "the file stays as it was") }
                    continue
                }
                Output.remark("ld-host: \(Printable(draft.file)) is changed")
                if let router = try? session.router() { await session.remarkLeftValues(of: nil, router) }
                break
            }
        } catch {
            let error = StorageError(wrapping: error)
            guard (try? edited(copy)) ?? draft.text != draft.text else {
                folder.remove()
                throw error
            }
            throw StorageError(
                error.code, "\(error.message); the edited copy is kept: \(copy)", hint: error.hint)
        }
        folder.remove()
        return .done
    }

    private static var isAskable: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    private static func wantsMore() throws -> Bool {
        let line = try Terminal.line(
            prompt: "Enter to edit it again, or n to leave the file as it was: ", isHidden: false,
            orElse: StorageError(.cancelled, "the file stays as it was"))
        let answer = line.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } } ?? "n"
        return !answer.lowercased().hasPrefix("n")
    }

    private static func edited(_ copy: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: copy) else {
            throw StorageError(.fileError, "the editor left no file '\(copy)'", hint: "set EDITOR to another editor")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw StorageError(.invalidConfiguration, "the edited text is not UTF-8", hint: "save it as UTF-8")
        }
        return text
    }

    /// Waits for the editor. Its words may be a command with arguments, which the shell takes apart as for git(1).
    private static func runEditor(on file: String) throws {
        let variables: [String] = ["VISUAL", "EDITOR"]
        let names = variables.compactMap { getenv($0) }.map { String(cString: $0) }
        let editor = names.first { !$0.isEmpty } ?? "vi"
        Interruption.begin()
        defer { Interruption.cease() }
        let status = StandardOutput.lent { system("\(editor) \(PathText.shellQuoted(file))") }
        try Interruption.check("the file stays as it was")
        guard status != 0 else { return }
        // As wait(2) puts it.
        let ending =
            status & 0x7F == 0 ? "ended with status \(status >> 8 & 0xFF)" : "was ended by signal \(status & 0x7F)"
        throw StorageError(
            .cancelled, "the editor '\(editor)' \(ending); the file stays as it was",
            hint: "set EDITOR to another editor")
    }
}
