internal import HostClients
internal import LocalDataHost

extension Command {
    static let storeCopy = Command(
        name: "store copy", operands: "FROM TO", count: 2...2, summary: "copy values from one store to another",
        details: """
            To replace a domain's store, copy its values, change domains.DOMAIN, and run the command again with
            --domain DOMAIN --move. Without --domain, all values in FROM are copied. FROM and TO are names of stores
            or ids of components. Each value is read back and compared. A value that TO has already is left as it is,
            so the next run resumes an interrupted one. Of two different values, the one that was written later counts,
            by the clocks of the two stores: TO gets it or keeps it. Where that is not known, both stay and are named,
            until --keep or --overwrite decides: a store keeps no times or only whole seconds, the times are at most
            10 ms apart, or an interrupted run may have copied one of the two. No difference holds up other values. If
            programs removed a value from one store between two runs, it stays in the other. --move removes the values
            from FROM when all of them have arrived, with those that TO has later ones of; not the host's own keys
            while FROM serves the keychain domain, because encrypted values need them. Values in folders that both
            stores use, such as those of app groups, are sealed in place. Values that other processes set during the
            run are neither overwritten nor removed. Ends with status 2 if a value is not copied or moved: it could not
            be read, was changed meanwhile, was removed from TO after it was copied, or differs and neither counts.
            """,
        options: [
            Option(name: "--domain", value: "DOMAIN", help: "only values of this domain; may be given more than once"),
            Option(name: "--give-up", help: "abandon an interrupted copy"),
            Option(name: "--keep", help: "where it is not known which value is later, take the one in TO"),
            Option(name: "--move", help: "remove the values from FROM when all of them have arrived"),
            Option(
                name: "--overwrite",
                help: "where it is not known which value is later, take the one in FROM; copy again what was removed "
                    + "from TO"),
            Option(name: "--plan", help: "print what would be done and each difference, and change nothing"), json,
        ]
    ) { arguments, session in
        let (from, to) = (arguments.operands[0], arguments.operands[1])
        let domains = arguments.all("--domain")
        if arguments.has("--give-up") {
            try await session.router().stores.giveUpCopy(from, to: to, domains: domains)
            return .done
        }
        let (keeps, overwrites) = (arguments.has("--keep"), arguments.has("--overwrite"))
        guard !keeps || !overwrites else { throw UsageError("--keep and --overwrite exclude each other") }
        let isPlan = arguments.has("--plan")
        let bar = ProgressLine("copying")
        Interruption.begin()
        let report = try await session.router().stores.copy(
            from, to: to, domains: domains, moving: arguments.has("--move"),
            choosing: keeps ? .destination : overwrites ? .source : nil, planOnly: isPlan
        ) { progress in
            Interruption.endHere(
                "\(progress.step), \(progress.done.grouped) of \(progress.total.counted("value", isGrouped: true)) done",
                hint: isPlan
                    ? "nothing was changed"
                    : "run it again to go on, or leave it so: ld-host store copy \(from) \(to) --give-up")
            bar.show(progress)
        }
        bar.finish()
        if session.json { try Output.json(report) } else { CopyText(report: report, isPlan: isPlan).print() }
        return report.isComplete ? .done : .failure
    }

    static let storeForget = Command(
        name: "store forget", operands: "NAME", count: 1...1,
        summary: "stop reporting values that a former store still has",
        details: """
            doctor looks for values in every store that served a domain before `config set` or `config unset` changed
            that. After this command it no longer looks in NAME. The values stay where they are. --batches removes what
            interrupted batches have left in NAME, if doctor reports that their record is lost; the values stay as they
            are.
            """,
        options: [
            Option(name: "--batches", help: "remove what batches have left whose record is lost"),
            Option(name: "--domain", value: "DOMAIN", help: "only values of this domain; may be given more than once"),
        ], removes: true
    ) { arguments, session in
        if arguments.has("--batches") {
            let name = arguments.operands[0]
            let count = try await session.router().stores.discardAbandonedBatches(in: name)
            let batches = count == 1 ? "a batch" : "\(count) batches"
            Output.remark("ld-host: what \(batches) had left in '\(name)' is removed")
            return .done
        }
        try await session.router().stores.forgetLeftValues(
            in: arguments.operands[0], domains: arguments.all("--domain"))
        return .done
    }
}
