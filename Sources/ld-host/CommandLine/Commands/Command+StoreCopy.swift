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

    static let storeSwitch = Command(
        name: "store switch", operands: "DOMAIN... TO", count: 2...64,
        summary: "let another store serve domains while programs run",
        details: """
            Copies the values of each DOMAIN to TO while programs go on, follows what they change, holds those that
            write for a moment, changes the line domains.DOMAIN of the configuration file, and removes the values from
            the former store. Programs of this user on this machine follow the line from their next call on; none finds
            a value missing or old. Not covered are programs of other users, on other machines, and in containers with a
            /dev/shm of their own: end those that use DOMAIN before. If a program changes a store for longer than
            --hold, nothing has changed. Backups, restores, copies, migrations and sync wait for a switch, and a switch
            for them. A switch that is interrupted is undone or finished by the next command or
            program. For example:
              ld-host store switch userDefaults postgresql
            """,
        options: [
            Option(
                name: "--hold", value: "SECONDS", help: "how long programs that write may be held; 2 if not given"),
            Option(name: "--keep-source", help: "leave the values in the former store"),
            Option(
                name: "--overwrite",
                help: "replace and remove the values of DOMAIN that TO has already"),
            Option(name: "--plan", help: "print what would be done, and change nothing"),
            Option(name: "--unseal", help: "let TO keep values plain that the former store seals"), json,
        ], removes: true
    ) { arguments, session in
        let (domains, store) = (Array(arguments.operands.dropLast()), arguments.operands.last ?? "")
        var limit = Duration.seconds(2)
        if let text = arguments.value("--hold") {
            guard let seconds = Double(text), seconds > 0, seconds <= 3600 else {
                throw UsageError("--hold takes seconds, above 0 and at most 3600; found '\(text)'")
            }
            limit = .seconds(seconds)
        }
        let isPlan = arguments.has("--plan")
        let bar = ProgressLine("switching")
        let report = try await session.router().switchStore(
            of: domains, to: store, keepingSource: arguments.has("--keep-source"),
            overwriting: arguments.has("--overwrite"), unsealing: arguments.has("--unseal"), planOnly: isPlan,
            holdingAtMost: limit
        ) { bar.show($0) }
        bar.finish()
        if session.json {
            try Output.json(report)
        } else {
            SwitchText(report: report, domains: domains, isPlan: isPlan).print()
        }
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
