internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// The candidates at the cursor: commands, options, and names from the configuration and the stores.
///
/// A completion asks for nothing and changes nothing. It ends after two seconds, as a store may have to be waited for.
struct Completion {
    /// One of the possible words. One that ends with `/` or `=` goes on.
    struct Candidate: Comparable {
        let text: String
        var help = ""

        static func < (left: Candidate, right: Candidate) -> Bool { left.text < right.text }
    }

    /// The kind of an operand, or of the value of an option.
    enum Subject: Equatable {
        case address, selection, domain, file, component, pluginFile, setting, settingValue, assignment, command, store
        case key, formerStore, migration, quarantined, conflict, device, app
        case oneOf([String])
        /// Something of the user's own.
        case anything
    }

    /// What a shell calls to complete the words behind it, of which the last is the one at the cursor.
    static let word = "__complete"
    /// The line that stands for names of files, which the shell knows best.
    static let files = ":files"
    /// How many names of keys are shown.
    private static let mostNames = 500

    private let session: Session
    private let command: Command?
    private let before: [String]
    private let current: String
    private let previous: String?
    /// The sealed store whose keys are meant; `nil` for the master keys.
    private let sealedStore: String?

    /// - Parameter words: The words after the program's name, up to the cursor.
    init(_ words: [String]) {
        current = words.last ?? ""
        let words = words.dropLast()
        let options = Command.all.flatMap(\.options) + Command.common
        var (names, skipsValue, flags, store) = ([String](), false, [String](), String?.none)
        for (option, word) in zip([""] + words, words) {
            if skipsValue {
                skipsValue = false
                if ["-c", "--config", "--app"].contains(option) { flags += [option, word] }
                if option == "--store" { store = word }
            } else if word.hasPrefix("--store=") {
                store = String(word.dropFirst("--store=".count))
            } else if word.hasPrefix("-"), word != "-" {
                skipsValue = options.contains { ($0.name == word || $0.short == word) && $0.value != nil }
            } else {
                names.append(word)
            }
        }
        let found = (1...3).reversed().lazy.compactMap { count -> (Command, Int)? in
            let name = names.prefix(count).joined(separator: " ")
            return Command.all.first { $0.name == name && names.count >= count }.map { ($0, count) }
        }.first
        command = found?.0
        before = found.map { Array(names.dropFirst($0.1)) } ?? names
        previous = words.last
        sealedStore = store
        session = Session((try? Arguments(flags, options: Command.common)) ?? .none)
    }

    /// Prints the candidates, one a line, each with a tab and what it is.
    static func print(_ words: [String]) async {
        // No question can reach the terminal, and none is waited for.
        setsid()
        signal(SIGALRM, SIG_DFL)
        alarm(2)
        // What is explained in one list and not in another stands once.
        let found = await Completion(words).candidates().map { ($0.text, $0) }
        let candidates = Dictionary(found) { $0.help.isEmpty ? $1 : $0 }
        for candidate in candidates.values.sorted() where "\(Printable(candidate.text))" == candidate.text {
            Output.line(candidate.line)
        }
    }

    /// The words that begin as the current one does.
    func candidates() async -> [Candidate] {
        if let option = openOption { return await words(subject(option.value ?? "", of: option.name)) }
        if current.hasPrefix("-"), current != "-" {
            guard let equals = current.firstIndex(of: "="), current.hasPrefix("--") else { return options }
            let name = String(current[..<equals])
            guard let option = allOptions.first(where: { $0.name == name }), let value = option.value else { return [] }
            let rest = String(current[current.index(after: equals)...])
            return await words(subject(value, of: name), rest).map {
                Candidate(text: "\(name)=\($0.text)", help: $0.help)
            }
        }
        guard let command else { return commands }
        let operands = command.operands.split(separator: " ").map(String.init)
        var subjects: [Subject] = []
        // The name of a command may have three words.
        let repeats = operands.last.flatMap { $0.hasSuffix("...") || $0 == "[COMMAND]" ? $0 : nil }
        if let operand = operands[safe: before.count] ?? repeats {
            subjects.append(subject(operand, of: command.name))
        }
        // `import` takes a file also where a domain may stand.
        if before.isEmpty, operands.count == 2, operands[0].hasPrefix("[") {
            subjects.append(subject(operands[1], of: command.name))
        }
        var found: [Candidate] = []
        for subject in subjects { found += await words(subject) }
        return found + commands
    }

    private var allOptions: [Command.Option] { (command?.options ?? []) + Command.common }

    /// The option whose value the current word is.
    private var openOption: Command.Option? {
        guard let previous, previous.hasPrefix("-") else { return nil }
        return allOptions.first { ($0.name == previous || $0.short == previous) && $0.value != nil }
    }

    private var options: [Candidate] {
        allOptions.flatMap { option in
            [option.name, option.short].compactMap { $0 }.map { Candidate(text: $0, help: option.help) }
        }.filter { $0.text.hasPrefix(current) }
    }

    /// What the commands of a command's group are for.
    private static func task(of command: Command) -> String {
        let task = Command.groups.first { group in group.commands.contains { $0.name == command.name } }?.task ?? ""
        return task.prefix(1).lowercased() + task.dropFirst()
    }

    /// The next words of commands that begin with the words so far.
    private var commands: [Candidate] {
        guard command == nil || before.isEmpty else { return [] }
        let start = (command?.name.split(separator: " ").map(String.init) ?? []) + before
        var found: [String: String] = [:]
        for candidate in Command.all {
            let words = candidate.name.split(separator: " ").map(String.init)
            guard words.count > start.count, words.starts(with: start), words[start.count].hasPrefix(current) else {
                continue
            }
            let isWhole = words.count == start.count + 1
            let known = found[words[start.count]]
            found[words[start.count]] = isWhole ? candidate.summary : known ?? Self.task(of: candidate)
        }
        return found.map { Candidate(text: $0.key, help: $0.value) }
    }
}

extension Completion {
    /// The kind of a placeholder in the table of commands.
    ///
    /// - Parameter owner: The command, or the option.
    func subject(_ placeholder: String, of owner: String) -> Subject {
        Self.subject(placeholder, of: owner, in: command?.name ?? "")
    }

    /// The same for an option of another command, or for a command.
    static func subject(_ placeholder: String, of owner: String, in command: String) -> Subject {
        if placeholder.hasPrefix("[DOMAIN") { return .selection }
        let name = placeholder.filter { !"[]".contains($0) }.replacing("...", with: "")
        return switch (name, owner) {
        case ("ADDRESS", _): .address
        case ("DOMAIN", _): .domain
        case ("FILE", _), ("PLUGIN", _), ("DIR", _), ("OLD", "container diff"), ("NEW", "container diff"): .file
        case ("FILE|COMPONENT", _): .pluginFile
        case ("KEY", "config get"), ("KEY", "config set"), ("KEY", "config unset"): .setting
        case ("VALUE", "config set"): .settingValue
        case ("KEY=VALUE", _): .assignment
        case ("COMMAND", _): .command
        case ("FROM", "store copy"), ("NAME", "store forget"): .formerStore
        case ("FROM", _), ("TO", _), ("STORE", _), ("NAME", "--store"): .store
        case ("ID", "--component"): .component
        case ("ID", "--app"): .app
        case ("ID", _) where command.hasPrefix("quarantine"): .quarantined
        case ("ID", _) where command.hasPrefix("sync"): .conflict
        case ("DEVICE", _): .device
        case ("ID", _): command.hasPrefix("keys") ? .key : command.hasPrefix("migrate") ? .migration : .anything
        case ("ACTION", "credential git"): .oneOf(["get", "store", "erase"])
        case ("ACTION", _): .oneOf(["store", "get", "erase", "list", "version"])
        case ("LANGUAGE", _): .oneOf(["swift", "c"])
        case ("KIND", _): .oneOf(["storage", "crypto", "sync", "migration"])
        case ("SHELL", _): .oneOf(CompletionScript.allCases.map(\.rawValue))
        case ("PAGE", _): .oneOf(ManualPage.names)
        default: .anything
        }
    }

    private func words(_ subject: Subject, _ start: String? = nil) async -> [Candidate] {
        let start = start ?? current
        let found: [Candidate] =
            switch subject {
            case .address: await addresses(start)
            case .selection: await addresses(start) + domains.map { Candidate(text: $0) }
            case .domain: domains.map { Candidate(text: $0) }
            case .file: [Candidate(text: Self.files)]
            case .component: await components(of: nil)
            case .pluginFile: await components(of: nil) + [Candidate(text: Self.files)]
            case .setting: settings
            case .settingValue: await values(of: before.first ?? "")
            case .assignment: await assignments(start)
            case .command: commandsForHelp
            case .store: stores
            case .formerStore: await formerStores + stores
            case .key: await keys()
            case .migration: await migrations()
            case .quarantined: await putAside { try await $0.quarantine.list().values }
            case .conflict: await putAside { try await $0.syncGroup.conflicts().values }
            case .device: await devices()
            case .app: await apps()
            case .oneOf(let words): words.map { Candidate(text: $0) }
            case .anything: []
            }
        return found.filter { $0.text.hasPrefix(start) || $0.text == Self.files }
    }

    private var configuration: HostConfiguration? { try? session.uncheckedConfiguration() }

    private func names(_ path: [String]) -> [String] { (try? configuration?.layered.keys(at: path)) ?? [] }

    private var domains: [String] { names(["domains"]) }

    private var stores: [Candidate] {
        let routed = domains.compactMap { try? configuration?.layered.string(at: ["domains", $0]) }
        return Set(names(["stores"]) + routed).map { Candidate(text: $0) }
    }

    /// Stores that have served a domain: they may still have values.
    private var formerStores: [Candidate] {
        get async {
            guard let router = try? session.router(), let names = try? await router.stores.former() else { return [] }
            return names.map { Candidate(text: $0, help: "has served a domain before") }
        }
    }

    /// The words of commands behind `help`.
    private var commandsForHelp: [Candidate] {
        Command.all.compactMap { command in
            let words = command.name.split(separator: " ").map(String.init)
            guard words.count > before.count, words.starts(with: before) else { return nil }
            return Candidate(text: words[before.count], help: words.count == before.count + 1 ? command.summary : "")
        }
    }

    /// Domains with their scopes up to the slash, and names behind it.
    private func addresses(_ start: String) async -> [Candidate] {
        guard let router = try? session.router() else { return [] }
        if start.contains("/"), let (domain, prefix) = try? Address.domain(start) {
            let names = try? await router.names(in: domain, prefix: prefix, limit: Self.mostNames)
            // A name that a terminal could not show, or a shell not take, is not offered.
            return (names ?? []).filter { "\(Printable($0))" == $0 }
                .map { Candidate(text: Address.text(domain, $0)) }
        }
        let scopes = (try? await router.scopes(of: .everything))?.scopes ?? []
        return domains.map { Candidate(text: "\($0)/") } + scopes.map { Candidate(text: "\($0.domain)/") }
    }

    /// The settings, with the names of stores and domains in them.
    private var settings: [Candidate] {
        ConfigurationSchema.host.rules.flatMap { rule -> [Candidate] in
            var paths: [[String]] = [[]]
            for segment in rule.pattern {
                guard ConfigurationRule.isPlaceholder(segment) else {
                    paths = paths.map { $0 + [segment] }
                    continue
                }
                paths = paths.flatMap { path in names(path).map { path + [$0] } }
            }
            return paths.map { Candidate(text: "\(ConfigurationPath($0))", help: rule.help) }
        }
    }

    /// The values that a setting may have, as far as they can be listed.
    private func values(of setting: String) async -> [Candidate] {
        guard let path = try? ConfigurationPath(setting).segments,
            let rule = ConfigurationSchema.host.rule(for: path)
        else { return [] }
        if path.first == "domains" { return await stores + components(of: .storage) }
        if path.last == "component" { return await components(of: path[0] == "stores" ? .storage : .migration) }
        if path == ["sync", "transport"] { return await components(of: .sync) }
        if path == ["encryption", "provider"] { return await components(of: .crypto) }
        if case .choice(let words) = rule.kind { return words.map { Candidate(text: $0) } }
        if case .sealing = rule.kind { return HostSettings.Sealing.sources.map { Candidate(text: $0) } }
        return []
    }

    private func assignments(_ start: String) async -> [Candidate] {
        guard let equals = start.firstIndex(of: "=") else {
            return settings.filter { !isObject($0.text) }.map { Candidate(text: "\($0.text)=", help: $0.help) }
        }
        let setting = String(start[..<equals])
        return await values(of: setting).map { Candidate(text: "\(setting)=\($0.text)", help: $0.help) }
    }

    private func isObject(_ setting: String) -> Bool {
        guard let path = try? ConfigurationPath(setting).segments,
            let rule = ConfigurationSchema.host.rule(for: path)
        else { return true }
        return if case .object = rule.kind { true } else { false }
    }

    private func components(of kind: ComponentKind?) async -> [Candidate] {
        guard let router = try? session.router(), let records = try? await router.knownPlugins() else { return [] }
        return records.choices.compactMap(\.component)
            .filter { kind == nil || $0.kind == kind?.rawValue }
            .map { Candidate(text: $0.id, help: $0.summary) }
    }

    /// The keys that a command can be about.
    private func keys() async -> [Candidate] {
        let ring = sealedStore.map { KeyRingName.store($0) } ?? .master
        guard let router = try? session.router(), let keys = try? await router.keys.list(of: ring) else { return [] }
        return keys.filter { key in
            switch command?.name {
            case "keys enable": key.state == "disabled"
            case "keys disable": key.state == "decrypt-only"
            case "keys rotate", "keys retire": key.state != "active"
            default: true
            }
        }.map { Candidate(text: $0.id, help: "\($0.state)") }
    }

    private func putAside(
        _ list: (StorageRouter) async throws -> [QuarantinedValue]
    ) async -> [Candidate] {
        guard let router = try? session.router(), let found = try? await list(router) else { return [] }
        return found.map { Candidate(text: $0.id, help: $0.address) }
    }

    private func devices() async -> [Candidate] {
        guard let router = try? session.router(), let found = try? await router.syncGroup.members() else { return [] }
        return found.map { Candidate(text: $0.id, help: $0.name) }
    }

    private func apps() async -> [Candidate] {
        guard let router = try? session.router(), let found = try? await router.apps() else { return [] }
        return found.apps.map { Candidate(text: $0) }
    }

    private func migrations() async -> [Candidate] {
        guard let overview = try? await session.router().migrations.status() else { return [] }
        return overview.migrations.map { Candidate(text: $0.migration) }
    }
}

extension Completion.Candidate {
    /// The line for a shell.
    fileprivate var line: String { help.isEmpty ? text : "\(text)\t\(Printable(help))" }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
