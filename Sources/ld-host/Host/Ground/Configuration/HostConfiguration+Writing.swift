internal import FoundationEssentials
internal import Glibc
package import LocalDataAPI

extension HostConfiguration {
    /// A file's content as somebody edits it elsewhere.
    package struct Draft: Sendable {
        /// The configuration file.
        package let file: String
        /// Its text; of a missing file, what a new one has.
        package let text: String
        /// What the file has; `nil` if it is missing.
        fileprivate let content: Data?
    }

    /// What to edit: also a file that is not well formed, but for one that is no UTF-8.
    ///
    /// - Throws: As reading a configuration, but for what an edit can mend.
    package static func draft(flags: Flags) throws(StorageError) -> Draft {
        let file = try editedFile(flags: flags, locations: .current)
        if let found = try document(toMend: file) {
            return Draft(file: file, text: found.text, content: Data(found.text.utf8))
        }
        guard let content = FileManager.default.contents(atPath: file) else {
            return Draft(file: file, text: StarterConfiguration().text(today: [:]), content: nil)
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw StorageError(
                .invalidConfiguration, "'\(PathText.shown(file))' is not UTF-8 text", hint: "save the file as UTF-8")
        }
        return Draft(file: file, text: text, content: content)
    }

    /// The document of a file; `nil` if it is missing, or its content is malformed.
    private static func document(toMend file: String) throws(StorageError) -> ConfigurationDocument? {
        do throws(StorageError) { return try ConfigurationDocument(path: file) } catch {
            guard error.code == .invalidConfiguration else { throw error }
            return nil
        }
    }

    /// Changes one value in the configuration file, and keeps its comments and order.
    ///
    /// - Parameters:
    ///   - path: The setting.
    ///   - text: JSON, or text if it is no JSON; `nil` removes the setting.
    ///   - others: What else keeps a configuration from being used.
    ///   - examine: Called with the valid outcome, and what it replaces, before the file is written.
    /// - Returns: The file's path.
    /// - Throws: `invalidConfiguration` if the outcome would not be valid; `busy` if another process keeps the file's
    ///   lock; what `examine` throws. Then the file has not changed.
    package func change(
        _ path: String, to text: String?, flags: Flags, besides others: (HostConfiguration) -> [ConfigurationProblem],
        examining examine: Examination = { _, _ in }
    ) throws(StorageError) -> String {
        let file = try Self.editedFile(flags: flags, locations: locations)
        try rewrite(file, flags: flags, besides: others, examining: examine) { () throws(StorageError) in
            // Others may have changed the file since this configuration was read.
            let found = try ConfigurationDocument(path: file)
            let old = if let found { found } else { try ConfigurationDocument(text: "", source: file) }
            return (old, try Self.changed(old, path, to: text, in: file))
        } refusing: { (problem, old, new) throws(StorageError) in
            throw try Self.refusal(of: try ConfigurationPath(path), by: problem, old, new)
        }
        return file
    }

    /// Looks at a valid configuration, and at the one that it is to replace.
    package typealias Examination =
        (_ next: HostConfiguration, _ former: HostConfiguration) throws(StorageError) -> Void

    /// Lets one store serve some domains.
    ///
    /// - Parameters:
    ///   - planOnly: Whether only to find out if that can be written.
    ///   - examine: Called with the outcome and what it replaces, right before the file is written.
    /// - Throws: As ``change(_:to:flags:besides:examining:)``.
    package func map(
        _ domains: [String], to store: String, flags: Flags, planOnly: Bool = false, examining examine: Examination
    ) throws(StorageError) {
        let file = try Self.editedFile(flags: flags, locations: locations)
        try rewrite(file, flags: flags, besides: { _ in [] }, planOnly: planOnly, examining: examine) {
            () throws(StorageError) in
            let found = try ConfigurationDocument(path: file)
            let old = if let found { found } else { try ConfigurationDocument(text: "", source: file) }
            var new = old
            for domain in domains { new = try new.setting(.string(store), at: ["domains", domain]) }
            return (old, new)
        } refusing: { (problem, _, _) throws(StorageError) in
            throw problem.error
        }
    }

    /// Replaces the configuration file by an edited draft.
    ///
    /// - Throws: `invalidConfiguration` if the text brings in a problem; `busy` if the file was changed meanwhile; what
    ///   `examine` throws. Then the file has not changed.
    package func replace(
        _ draft: Draft, by text: String, flags: Flags, besides others: (HostConfiguration) -> [ConfigurationProblem],
        examining examine: Examination = { _, _ in }
    ) throws(StorageError) {
        guard text.utf8.contains(where: { !ConfigurationDocument.space.contains($0) }) else {
            throw StorageError(
                .invalidConfiguration, "configuration \(draft.file): expected an object in braces, found nothing",
                hint: "for the defaults, save: {}")
        }
        let new = try ConfigurationDocument(text: text, source: draft.file)
        try rewrite(draft.file, flags: flags, besides: others, examining: examine) { () throws(StorageError) in
            guard FileManager.default.contents(atPath: draft.file) == draft.content else {
                throw StorageError(
                    .busy, "'\(PathText.shown(draft.file))' was changed meanwhile", hint: "edit it again")
            }
            let found = try Self.document(toMend: draft.file)
            let old = if let found { found } else { try ConfigurationDocument(text: "", source: draft.file) }
            return (old, new)
        } refusing: { (problem, _, _) throws(StorageError) in
            throw problem.error
        }
    }

    /// Replaces a file by the second of the documents that `making` returns. The first is the file's content.
    private func rewrite(
        _ file: String, flags: Flags, besides others: (HostConfiguration) -> [ConfigurationProblem],
        planOnly: Bool = false, examining examine: Examination,
        _ making: () throws(StorageError) -> (ConfigurationDocument, ConfigurationDocument),
        refusing: (ConfigurationProblem, _ old: JSONValue, _ new: JSONValue) throws(StorageError) -> Void
    ) throws(StorageError) {
        let kind: ConfigurationLayer.Name =
            flags.file != nil ? .flag : locations.namedFile != nil ? .environment : .user
        func rewrite() throws(StorageError) {
            let (old, new) = try making()
            let before = replacing(file, kind, by: old)
            let after = replacing(file, kind, by: new)
            func problems(_ configuration: HostConfiguration) -> [ConfigurationProblem] {
                configuration.problems() + others(configuration)
            }
            let known = Set(problems(before).map { "\($0.path) \($0.message)" })
            if let problem = problems(after).first(where: { !known.contains("\($0.path) \($0.message)") }) {
                try refusing(problem, old.value, new.value)
            }
            try examine(after, before)
            if planOnly { return }
            // Before the change: a store that is remembered in vain does no harm.
            if let before = try? before.settings(), let after = try? after.settings() {
                try RouteHistory(after.folders).add(from: before, to: after)
            }
            try Self.write(new.text, to: Self.target(of: file), keepingMode: true)
        }
        if planOnly { return try rewrite() }
        try Self.lock(file).exclusive { (_) throws(StorageError) in try rewrite() }
    }

    /// Why a setting cannot be changed: its value is wrong, or lacks another setting, or makes that wrong.
    private static func refusal(
        of changed: ConfigurationPath, by problem: ConfigurationProblem, _ old: JSONValue, _ new: JSONValue
    ) throws(StorageError) -> StorageError {
        let other = ConfigurationPath(problem.path)
        let isMissing = new[other.segments] == nil
        let parent = Array(changed.segments.dropLast())
        let rest = other.segments.dropFirst(parent.count)
        // Another component does not know the options of the one before.
        if other.segments.starts(with: parent), rest.first == "options", rest.count > 1,
            changed.segments.last != "options",
            !parent.isEmpty, old[changed.segments] != nil, new[changed.segments] != nil
        {
            let options =
                isMissing ? JSONValue.object([:]).setting(.string("VALUE"), at: rest.dropFirst()) : .object([:])
            let both = (new[parent] ?? .object([:])).setting(options, at: ["options"])
            return StorageError(
                .invalidConfiguration,
                "\(changed) cannot be set \(isMissing ? "without" : "with") \(other): \(problem.message)",
                hint: "set both at once: ld-host config set \(ConfigurationPath(parent)) "
                    + PathText.shellQuoted(try both.serialized()))
        }
        let isOther = isMissing && !other.segments.starts(with: changed.segments)
        return StorageError(
            .invalidConfiguration,
            isOther
                ? "\(changed) cannot be set yet, since \(other) is not set: \(problem.message)"
                : "\(other) cannot be set: \(problem.message)",
            hint: isOther ? "run first: ld-host config set \(other) VALUE" : problem.hint)
    }

    private static func changed(
        _ old: ConfigurationDocument, _ path: String, to text: String?, in file: String
    ) throws(StorageError) -> ConfigurationDocument {
        let segments = try ConfigurationPath(path).segments
        if let text {
            // Read as a flag is, so that a version stays text.
            let assignment = try ConfigurationLayer(assignment: "\(ConfigurationPath(segments))=\(text)")
            return try old.setting(assignment.value[segments] ?? .null, at: segments)
        }
        guard old.value[segments] != nil else {
            throw StorageError(
                .notFound, "'\(path)' is not set in '\(file)'", hint: "run: ld-host config show --origin")
        }
        var new = try old.removing(at: segments)
        // An object that has lost its last member says nothing, unless there is a comment in it.
        var parent = segments.dropLast()
        while !parent.isEmpty, new.isEmptyObject(at: parent) {
            new = try new.removing(at: Array(parent))
            parent = parent.dropLast()
        }
        return new
    }

    /// The whole configuration with another content of a file in its place among the layers.
    private func replacing(
        _ file: String, _ kind: ConfigurationLayer.Name, by document: ConfigurationDocument
    ) -> HostConfiguration {
        var layers = layered.layers.filter { $0.document == nil || $0.source != file }
        // A file that was read keeps its place: values of flags count more than a file of one.
        let known = layered.layers.firstIndex { $0.document != nil && $0.source == file }
        let position = known ?? layers.firstIndex { $0.name.rank > kind.rank } ?? layers.count
        layers.insert(ConfigurationLayer(kind, document), at: position)
        return HostConfiguration(layered: LayeredConfiguration(layers: layers), locations: locations)
    }

    /// The file that a new configuration is written to, and whether it is there already.
    ///
    /// - Throws: `invalidConfiguration` if it cannot be understood.
    package static func starterFile(flags: Flags) throws(StorageError) -> (path: String, exists: Bool) {
        let file = try editedFile(flags: flags, locations: .current)
        return (file, try ConfigurationDocument(path: file) != nil)
    }

    /// Writes a new configuration file, unless there is one. A store that served so far is remembered if it does not
    /// from now on.
    ///
    /// - Returns: The file's path, and whether it is new.
    package static func writeStarter(
        _ starter: StarterConfiguration, flags: Flags
    ) throws(StorageError) -> (path: String, isNew: Bool) {
        let file = try editedFile(flags: flags, locations: .current)
        let isNew = try lock(file).exclusive { (_) throws(StorageError) in
            guard try ConfigurationDocument(path: file) == nil else { return false }
            let before = try? load().settings()
            let text = starter.text(today: before?.routes ?? [:])
            if let before, let after = try? HostConfiguration(text: text).settings() {
                try RouteHistory(after.folders).add(from: before, to: after)
            }
            try write(text, to: target(of: file), keepingMode: false)
            return true
        }
        return (file, isNew)
    }

    /// Replaces a file, and lets all programs know.
    private static func write(_ text: String, to file: String, keepingMode: Bool) throws(StorageError) {
        try HostFile.write(Data(text.utf8), to: file, keepingMode: keepingMode)
        ConfigurationPage.ofUser.note(file)
    }

    /// The file that a link leads to, which is replaced in the link's place; another path is returned as it is.
    static func target(of file: String) throws(StorageError) -> String {
        var status = stat()
        guard lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let target = realpath(file, nil) else {
            return file
        }
        defer { free(target) }
        return try PathText.string(target, from: "what '\(PathText.shown(file))' leads to")
    }

    /// Held from reading a file until it is replaced, by whichever of its names it was opened.
    private static func lock(_ file: String) throws(StorageError) -> FileLock {
        let target = try target(of: file)
        var status = stat()
        // The superuser may change a file of its own anywhere.
        let isOwn = stat(target, &status) == 0 && status.st_uid == geteuid()
        return FileLock("\(target).lock", isOfOwnFile: isOwn)
    }

    private static func editedFile(
        flags: Flags, locations: ConfigurationLocations
    ) throws(StorageError) -> String {
        guard let file = flags.file ?? locations.namedFile ?? locations.userFile else {
            throw StorageError(
                .invalidConfiguration, "there is no home directory for a configuration file",
                hint: "set HOME to an absolute path, or name a file with LOCALDATA_CONFIG")
        }
        guard !ConfigurationDocument.isNullDevice(file) else {
            throw StorageError(
                .invalidConfiguration, "configuration \(file): nothing can be stored in the null device",
                hint: "name a file with --config or LOCALDATA_CONFIG")
        }
        return file
    }
}

extension HostConfiguration {
    /// The built-in defaults with all folders below one, for demonstrations.
    package static func isolated(in folder: String) throws(StorageError) -> HostConfiguration {
        var configuration = HostConfiguration()
        for name in ["data", "cache", "state", "config"] {
            try configuration.set("directories.\(name)", AnyCodable("\(folder)/\(name)"))
        }
        return configuration
    }
}

extension ConfigurationLayer.Name {
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
