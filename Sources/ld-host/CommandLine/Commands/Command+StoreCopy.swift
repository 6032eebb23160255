internal import HostClients
internal import LocalDataHost

extension Command {
    static let storeCopy = Command(
        name: "store copy", operands: "FROM TO", count: 2...2, summary: "copy values from one store to another",
        details: """
            To replace a domain's store, copy its values, change domains.DOMAIN, and run the command again with
            --domain DOMAIN --move. Without --domain, all values in FROM are copied. FROM and TO are names of stores
            or ids of components. Each value is read back and compared. A value that TO has already is left as it is,
            so the next run resumes an interrupted one. If programs set a value in one of the stores between two runs,
            the later one counts. If they removed it from one, it stays in the other. --move removes the values from
            FROM when all of them have arrived, except the host's own keys while FROM serves the keychain domain,
            because encrypted values need them. Values in folders that both stores use, such as those of app groups,
            are sealed in place. Values that other processes set during the run are neither overwritten nor removed.
            Ends with status 2 if a value stays in FROM because it could not be read, was changed meanwhile, or was
            removed from TO after it was copied.
            """,
        options: [
            Option(name: "--domain", value: "DOMAIN", help: "only values of this domain; may be given more than once"),
            Option(name: "--give-up", help: "abandon an interrupted copy"),
            Option(name: "--move", help: "remove the values from FROM when all of them have arrived"),
            Option(name: "--overwrite", help: "replace different values in TO, unless they are known to be later"),
            Option(name: "--plan", help: "print what would be done, and change nothing"), json,
        ]
    ) { arguments, session in
        let domains = arguments.all("--domain")
        if arguments.has("--give-up") {
            try await session.router().giveUpCopy(arguments.operands[0], to: arguments.operands[1], domains: domains)
            return .done
        }
        let isPlan = arguments.has("--plan")
        let bar = ProgressLine("copying")
        let report = try await session.router().copyStore(
            arguments.operands[0], to: arguments.operands[1], domains: domains, moving: arguments.has("--move"),
            overwriting: arguments.has("--overwrite"), planOnly: isPlan
        ) { bar.show($0) }
        bar.finish()
        if session.json {
            try Output.json(report)
        } else {
            func verb(_ count: Int) -> String { isPlan ? "would be" : count == 1 ? "was" : "were" }
            Output.line(
                "\(report.copied) of \(report.total.counted("value")) \(verb(report.total)) copied to '\(report.to)', "
                    + "which had \(report.equal)")
            if !isPlan, arguments.has("--overwrite"), !report.conflicts.isEmpty {
                Output.line("\(report.conflicts.count) of them replaced another value in '\(report.to)'")
            }
            if report.sealedInPlace > 0 {
                Output.line(
                    "\(report.sealedInPlace.counted("value")) \(verb(report.sealedInPlace)) sealed in the folders "
                        + "that both stores use")
            }
            if report.removed > 0 {
                Output.line("\(report.removed.counted("value")) \(verb(report.removed)) removed from '\(report.from)'")
            }
            if !report.later.isEmpty {
                Output.line(
                    "\(report.later.count.counted("value")) that \(report.later.count == 1 ? "was" : "were") set in "
                        + "'\(report.to)' since \(report.later.count == 1 ? "stays" : "stay") there")
            }
            if !report.kept.isEmpty {
                Output.remark(
                    "ld-host: \(report.kept.count) of the host's own keys \(isPlan ? "would stay" : "stay") in "
                        + "'\(report.from)', which serves the keychain; to move them too: ld-host config set "
                        + "domains.keychain \(report.to), then the same again")
            }
            for address in report.conflicts where isPlan {
                Output.line("'\(report.to)' has another value of \(Printable(address))")
            }
            if !report.removedSince.isEmpty {
                Output.remark(
                    "ld-host: \(report.removedSince.count.counted("value")) removed from '\(report.to)' since the last "
                        + "copy, not copied again; to copy what is missing: --overwrite")
                for address in report.removedSince { Output.remark("ld-host: removed: \(Printable(address))") }
            }
            if !report.removedFromSource.isEmpty {
                Output.remark(
                    "ld-host: \(report.removedFromSource.count.counted("value")) removed from '\(report.from)' since the "
                        + "last copy, and still in '\(report.to)'")
                for address in report.removedFromSource { Output.remark("ld-host: still there: \(Printable(address))") }
            }
            if !report.changed.isEmpty {
                Output.remark("ld-host: \(report.changed.count.counted("value")) changed during the copy: run again")
                for address in report.changed { Output.remark("ld-host: changed: \(Printable(address))") }
            }
            for (address, reason) in report.failures.sorted(by: { $0.key < $1.key }) {
                Output.remark("ld-host: \(Printable(address)) stays where it is: \(Printable(reason))")
            }
        }
        let isAll = report.failures.isEmpty && report.changed.isEmpty && report.removedSince.isEmpty
        return isAll ? .done : .failure
    }

    static let storeForget = Command(
        name: "store forget", operands: "NAME", count: 1...1,
        summary: "stop reporting values that a former store still has",
        details: """
            doctor looks for values in every store that served a domain before `config set` or `config unset` changed
            that. After this command it no longer looks in NAME. The values stay where they are.
            """,
        options: [
            Option(name: "--domain", value: "DOMAIN", help: "only values of this domain; may be given more than once")
        ]
    ) { arguments, session in
        try await session.router().forgetLeftValues(in: arguments.operands[0], domains: arguments.all("--domain"))
        return .done
    }
}
