internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let backup = Command(
        name: "backup", operands: "FILE", count: 1...1, summary: "write values to one sealed file",
        details: """
            Writes the values of all domains, or of those that --domain names, to FILE, with their attributes, the
            ledger of their migrations and the host's key rings. FILE is sealed under a passphrase, which is typed
            twice. It is read back and verified before it gets its name. Values of keys with an encryption policy stay
            sealed in it. FILE does not contain the keys of sealed stores; restore seals their values again. Ends with
            status 2 if FILE lacks a value, or the store of a domain that is not named, because it could not be read.
            """,
        options: [
            Option(name: "--domain", value: "DOMAIN", help: "only values of this domain; may be given more than once"),
            Option(name: "--overwrite", help: "replace FILE if it exists"), passphraseOption, json,
        ]
    ) { arguments, session in
        let passphrase = try passphrase(arguments)
        let bar = ProgressLine("writing")
        let file = arguments.operands[0]
        Interruption.begin()
        let report = try await session.router().backups.write(
            to: file, domains: arguments.all("--domain"), passphrase: passphrase,
            overwriting: arguments.has("--overwrite")
        ) { progress in
            try Interruption.check("the backup '\(file)' was not written")
            bar.show(progress)
        }
        bar.finish()
        for (address, reason) in report.failures.sorted(by: { $0.key < $1.key }) {
            Output.remark("ld-host: left out: \(Printable(address)): \(Printable(reason))")
        }
        if session.json {
            try Output.json(report)
        } else {
            Output.sentence(
                "\(report.values.counted("value", isGrouped: true)) of \(report.domains.count.counted("domain")) "
                    + "\(report.values == 1 ? "is" : "are") in '\(Printable(report.file))', with "
                    + "\(report.rings.counted("key ring")) and \(report.ledger) entries of the ledger",
                indent: 4)
        }
        return report.failures.isEmpty ? .done : .failure
    }

    static let restore = Command(
        name: "restore", operands: "FILE", count: 1...1, summary: "restore values from a file that backup wrote",
        details: """
            Reads all of FILE and verifies it before anything changes. Then all values that the stores do not have are
            restored, or none, even after a kill or a power loss. Each goes to the store that serves its domain now, and
            values that FILE lacks are kept. If a store has a different value, nothing is restored without --overwrite.
            FILE may be somebody else's. Values for folders of the user's own choosing are restored only if --folder
            names each folder, a catalog names the key, or a key ring here has sealed values there. The key rings in FILE
            open the values in it, and those are sealed again under a key of this user. With --keys, a ring that is
            missing here is restored, and one that exists gets the keys that it lacks, to decrypt only: the author of FILE
            can then make values that open here. --plan prints each value, folder and key that would be restored.
            """,
        options: [
            Option(name: "--domain", value: "DOMAIN", help: "only values of this domain; may be given more than once"),
            folderOption,
            Option(name: "--keys", help: "restore the key rings in FILE too: only from a backup of your own"),
            Option(name: "--overwrite", help: "replace different values in the stores"), passphraseOption,
            Option(name: "--plan", help: "print what would be restored, and change nothing"), json,
        ]
    ) { arguments, session in
        var terms = RestoreTerms()
        terms.isPlan = arguments.has("--plan")
        terms.overwrites = arguments.has("--overwrite")
        terms.takesKeys = arguments.has("--keys")
        terms.folders = try namedFolders(arguments)
        let passphrase = try passphrase(arguments)
        let bar = ProgressLine("checking")
        Interruption.begin()
        let report = try await session.router().backups.restore(
            from: arguments.operands[0], domains: arguments.all("--domain"), passphrase: passphrase, terms
        ) { progress in
            try Interruption.check("nothing was restored")
            bar.show(progress)
        }
        bar.finish()
        if report.expired > 0 {
            Output.remark("ld-host: left out, as they have expired: \(report.expired.counted("value"))")
        }
        if session.json {
            try Output.json(report)
        } else if terms.isPlan {
            show(plan: report)
        } else {
            show(result: report)
        }
        return .done
    }

    private static func show(plan report: RestoreReport) {
        for domain in report.domains where domain.new + domain.same + domain.different + domain.onlyStored > 0 {
            Output.sentence(
                "\(domain.domain): \(domain.new) new, \(domain.same) the same, \(domain.different) different, "
                    + "\(domain.onlyStored) only in '\(domain.store)'",
                indent: 4)
        }
        for change in report.changes ?? [] {
            let folder = change.folder.map { " in the folder '\($0)'" } ?? ""
            let option = change.needsFolder ? ", which needs --folder" : ""
            let text = "\(change.replaces ? "different" : "new"): \(change.address)\(folder)\(option)"
            Output.sentence("\(Printable(text))", indent: 4)
        }
        for ring in report.rings { Output.sentence("\(Printable(text(of: ring, report, "would get")))", indent: 4) }
        if report.ledger > 0 {
            Output.sentence("\(report.ledger) entries of the ledger would be restored too", indent: 4)
        }
    }

    private static func show(result report: RestoreReport) {
        let count = report.domains.reduce(0) { $0 + $1.new + $1.different }
        let same = report.domains.reduce(0) { $0 + $1.same }
        Output.sentence(
            "\(count.counted("value", isGrouped: true)) \(count == 1 ? "was" : "were") restored from "
                + "'\(Printable(report.file))'; \(same.grouped) \(same == 1 ? "was" : "were") there already",
            indent: 4)
        if report.resealed > 0 {
            Output.sentence(
                "\(report.resealed.counted("value", isGrouped: true)) \(report.resealed == 1 ? "was" : "were") sealed again "
                    + "under your own key",
                indent: 4)
        }
        for ring in report.rings { Output.sentence("\(Printable(text(of: ring, report, "got")))", indent: 4) }
        if report.unopened > 0 {
            Output.remark("ld-host: restored as they are, as nothing opens them: \(report.unopened.counted("value"))")
        }
    }

    /// What becomes of a ring's keys.
    private static func text(of ring: RestoreReport.Ring, _ report: RestoreReport, _ verb: String) -> String {
        let isOne = ring.keys.count == 1
        let keys = "\(isOne ? "key" : "keys") \(ring.keys.joined(separator: ", "))"
        guard report.takesKeys else {
            let verb = isOne ? "is" : "are"
            return "the backup's key ring \(ring.ring) has the \(keys), which \(verb) not taken without --keys"
        }
        return ring.isNew
            ? "the key ring \(ring.ring), which is new here, \(verb) the \(keys)"
            : "the key ring \(ring.ring) \(verb) the \(keys), which only \(isOne ? "opens" : "open")"
    }

    /// For commands that read values for addresses from a file.
    static let folderOption = Option(
        name: "--folder", value: "PATH",
        help: "values for the folder PATH may be written there; may be given more than once")

    /// The folders that options name.
    static func namedFolders(_ arguments: Arguments, and others: [String] = []) throws -> NamedFolders {
        let current = FileManager.default.currentDirectoryPath
        let given = arguments.all("--folder").map { $0.hasPrefix("/") ? $0 : "\(current)/\($0)" }
        return try NamedFolders(given + others)
    }

    private static let passphraseOption = Option(
        name: "--passphrase-fd", value: "N", help: "read the passphrase from the file descriptor N, to its end")

    private static func passphrase(_ arguments: Arguments) throws -> BackupPassphrase {
        guard let text = arguments.value("--passphrase-fd") else { return .terminal }
        guard let number = Int32(text), number >= 0 else {
            throw UsageError(
                "'\(text)' is not a file descriptor", hint: "give its number, e.g. --passphrase-fd 3 3<FILE")
        }
        return try .reading(number)
    }
}
