internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let initialize = Command(
        name: "init", summary: "write a configuration file with today's choices",
        details: """
            Writes the user's file, or the file that LOCALDATA_CONFIG or --config names. It states which store serves
            what today, so that a later default changes nothing. On a terminal it asks three questions first, each with
            a default: where secrets are kept, where settings are kept, and which library encrypts. An existing file is
            left as it is.
            """,
        options: [Option(name: "--yes", short: "-y", help: "ask nothing: take the defaults")]
    ) { arguments, session in
        let asks = !arguments.has("--yes") && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
        var starter = StarterConfiguration()
        if asks, try !HostConfiguration.starterFile(flags: session.flags).exists {
            starter.keychain = try choice(
                "Where should secrets, the domain keychain, be kept?",
                [
                    (.keyFile, "in encrypted files; the key is in a file that you alone can read. Needs no daemon."),
                    (.passphrase, "in encrypted files; each program that needs a secret asks for a passphrase."),
                    (.secretService, "in the desktop's keyring, such as GNOME Keyring; you unlock it by logging in."),
                ])
            starter.userDefaults = try choice(
                "Where should settings, the domain userDefaults, be kept?",
                [
                    (nil, "in a SQLite database, or where they are now. Fast for many small values."),
                    ("file", "in a file for each value, which other programs can read."),
                ])
            starter.provider = try choice(
                "Which library should encrypt?",
                [
                    (nil, "OpenSSL: AES-256-GCM and ChaCha20-Poly1305."),
                    ("sodium", "libsodium: ChaCha20-Poly1305, and Argon2id for passphrases."),
                ])
        }
        let (path, isNew) = try HostConfiguration.writeStarter(starter, flags: session.flags)
        Output.line(path)
        if !isNew { Output.remark("ld-host: the file already exists and was not changed") }
        return .done
    }

    /// Asks for one of several choices until one is named; an empty answer is the first.
    private static func choice<Choice>(_ question: String, _ choices: [(value: Choice, text: String)]) throws -> Choice
    {
        Output.remark(question)
        for (index, choice) in choices.enumerated() { Output.remark("  \(index + 1)  \(choice.text)") }
        while true {
            let line = try Terminal.line(
                prompt: "1 to \(choices.count), or Enter for 1: ", isHidden: false,
                orElse: StorageError(.cancelled, "nothing was chosen; no configuration was written"))
            let answer = line.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } } ?? ""
            let number = answer.isEmpty ? 1 : Int(answer.filter { $0 != " " })
            if let number, choices.indices.contains(number - 1) { return choices[number - 1].value }
            Output.remark("'\(Printable(answer))' is not one of the choices.")
        }
    }
}
