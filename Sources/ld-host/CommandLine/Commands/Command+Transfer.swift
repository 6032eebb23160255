internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let importValues = Command(
        name: "import", operands: "[DOMAIN[:SCOPE]] FILE", count: 1...2, summary: "store the values in a JSON file",
        details: """
            FILE (- for standard input) is a JSON object: each entry becomes a value under its name. With --each and
            --name it is an array of objects. A value's bytes are the entry as JSON without white space.
            {"$text": "..."} stands for text, and {"$base64": "..."} for other bytes; {"$format": "..."} beside them,
            as export writes it, states the format recorded with them, and {"$expires": "..."} when they expire; what
            has expired is left out. If a catalog describes a key, the value is encoded by its type and serializer, as
            with set. An export of a domain or of everything has addresses and needs no DOMAIN; with DOMAIN[:SCOPE],
            only the values in it are stored. An export does not say which app's keys its values belong to: on another
            machine, an app finds them where its present release has its keys. To move all that an app has, also of
            keys that have moved, use backup and restore. Addresses in a folder of the user's own choosing are refused
            unless --folder or DOMAIN:SCOPE names that folder, or a catalog names the key. Everything is checked before
            the first value is stored. Up to \(ImportRun.mostValues) values of 4 MiB in all are stored all or none. More
            are stored in parts of that size, so that memory does not grow with FILE: an import that is interrupted says
            how many values are stored, and the same command completes it. FILE is read twice. Standard input that is a
            pipe is held in memory instead, and written nowhere but to the stores.
            """,
        options: [
            Option(
                name: "--each", value: "PATH",
                help: "import the elements of the array at PATH, e.g. 639-3; . is FILE itself"
            ),
            Option(name: "--name", value: "FIELD", help: "name each element by its member FIELD"), folderOption,
            json,
        ]
    ) { arguments, session in
        let place = arguments.operands.count == 2 ? arguments.operands[0] : nil
        let (path, field) = (arguments.value("--each"), arguments.value("--name"))
        if (path == nil) != (field == nil) {
            throw UsageError("--each and --name need each other", hint: "run: ld-host help import")
        }
        let target = try place.map { try Address.domain($0) }
        let document = try InputDocument(arguments.operands.last ?? "-")
        let shape: DocumentEntryReader.Shape =
            if let path, let field {
                .elements(path: path, field: field)
            } else {
                try AddressDocument.isOne(document) ? .addresses : .names
            }
        let router = try session.router()
        var own: String?
        if let target { own = try await router.chosenFolder(of: target.domain) }
        let folders = try namedFolders(arguments, and: own.map { [$0] } ?? [])
        let report = try await ImportRun(document, shape, into: place, folders, router).run()
        for domain in report.domains.sorted(by: { "\($0)" < "\($1)" }) {
            try await warnIfLost(domain, router)
        }
        if report.expired > 0 {
            Output.remark("ld-host: left out, as they have expired: \(report.expired.counted("value"))")
        }
        if session.json {
            try Output.json(["imported": report.count, "expired": report.expired])
        } else {
            Output.line("imported \(report.count.counted("value"))\(target.map { " into \($0.domain)" } ?? "")")
        }
        return .done
    }

    static let exportValues = Command(
        name: "export", operands: "[DOMAIN[:SCOPE][/PREFIX]]", count: 0...1, summary: "print values as JSON",
        details: """
            Prints a JSON object with one entry per line, from which import restores the same bytes. Entries of one
            scope are named by name; those of a domain or of everything by address.
            \(Address.selectionHelp)
            Everything means all domains except keychain and encryptedFileSystem, whose values would be in plain
            text: name them, or use --secrets. The same holds for values that the keys of a catalog encrypt. A value
            that cannot be read or decrypted is left out and reported, and the status is 2.
            """,
        options: [
            Option(name: "--secrets", help: "include the keychain and encrypted values of every service, in plain text")
        ]
    ) { arguments, session in
        let selection = try Address.selection(arguments.operands.first)
        let wantsSecrets = arguments.has("--secrets")
        guard selection != .domain("keychain") || wantsSecrets else {
            throw UsageError(
                "the whole keychain has secrets of every service, also of other programs",
                hint: "name one service: ld-host export keychain:SERVICE; or all of them, in plain text: --secrets")
        }
        let router = try session.router()
        var (scopes, failures) = try await router.scopes(of: selection)
        for failure in failures { Output.complain(failure) }
        if selection == .everything, !wantsSecrets {
            let secret = Set(scopes.map(\.domain.name)).intersection(secretDomains).sorted()
            scopes.removeAll { secretDomains.contains($0.domain.name) }
            if !secret.isEmpty {
                Output.remark("ld-host: left out, as they would be in plain text: \(secret.joined(separator: ", "))")
                Output.remark("ld-host: hint: export them by name, or with --secrets")
            }
        }
        var (isWhole, encrypted) = (failures.isEmpty, 0)
        let progress = ProgressLine("exporting", isShown: !Output.isTerminal)
        var document = if case .scope = selection { ExportDocument(of: .names) } else { ExportDocument(of: .addresses) }
        for scope in scopes {
            let domain = scope.domain
            // Entry by entry: a dictionary would hold names that differ in their bytes alone as one.
            do {
                try await router.forEachName(in: scope) { name in
                    do {
                        let key = try await router.key(named: name, in: domain)
                        if selection == .everything, !wantsSecrets, case .encrypted = key.descriptor.security {
                            encrypted += 1
                            return
                        }
                        guard let data = try await router.data(for: key) else { return }
                        let recorded = try await router.attributes(of: key)
                        try document.add(data, recorded: recorded?.format, expires: recorded?.expires, domain, name)
                        progress.advance()
                    } catch let error as StorageError where error.isOfOneValue {
                        Output.complain(error)
                        isWhole = false
                    }
                }
            } catch let error as StorageError where scopes.count > 1 && error.code == .permissionDenied {
                // The others can be listed.
                Output.complain(error)
                isWhole = false
            }
        }
        document.end()
        progress.finish()
        if encrypted > 0 {
            Output.remark(
                "ld-host: left out, as they would be in plain text: \(encrypted.counted("value")) that the keys encrypt"
            )
            Output.remark("ld-host: hint: export the domain by name, or with --secrets")
        }
        await session.remarkLeftValues(of: selection.domain, router)
        return isWhole ? .done : .failure
    }

    private static let secretDomains: Set<String> = ["keychain", "encryptedFileSystem"]
}

extension Command {
    static let batch = Command(
        name: "batch", operands: "[FILE]", count: 0...1, summary: "store and remove many values, all or none",
        details: """
            FILE has one change per line, a JSON object: {"set": "ADDRESS", "value": ...} or {"remove": "ADDRESS"}.
            Without FILE, or with -, changes come from standard input. Values have the form that import takes, also for
            keys of a catalog. Removing an absent value is not an error, and the last change of an address wins.
            Changes in a folder of the user's own choosing are refused unless --folder names it, or a catalog the key.
            Everything is checked before the first change. After a kill or a power loss all changes are made, or none.
            """,
        options: [folderOption, json]
    ) { arguments, session in
        let file = arguments.operands.first ?? "-"
        let changes = try BatchDocument.changes(in: try Input.contents(of: file), from: Input.name(of: file))
        let router = try session.router()
        var batch = StorageBatch()
        var domains: [StorageDomain] = []
        let folders = try namedFolders(arguments)
        var unnamed = UnnamedFolders()
        for change in changes {
            let key = try await change.located {
                change.value == nil
                    ? try await Address.unseenKey(change.address, router)
                    : try await Address.key(change.address, router)
            }
            let folder = try await change.located {
                try await router.checkUsable(key)
                return try await router.unnamedFolder(of: key, besides: folders)
            }
            if let folder { unnamed.add(folder, change.address) }
            if let value = change.value {
                let stored = try await change.located { try value.stored(for: key) }
                batch.setData(stored.data, for: stored.key, expires: stored.expires)
                if !domains.contains(key.descriptor.domain) { domains.append(key.descriptor.domain) }
            } else {
                batch.remove(key)
            }
        }
        guard unnamed.isEmpty else {
            throw StorageError.unnamedFolders(unnamed, of: Input.name(of: file), "nothing was done")
        }
        try await router.apply(batch)
        for domain in domains { try await warnIfLost(domain, router) }
        let sets = changes.count { $0.value != nil }
        if session.json {
            try Output.json(["set": sets, "removed": changes.count - sets])
        } else {
            Output.line("made \(changes.count) change\(changes.count == 1 ? "" : "s")")
        }
        return .done
    }
}
