internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private static let only = Option(
        name: "--only", value: "ID", help: "run the migration ID and those that it depends on")
    private static let upTo = Option(name: "--up-to", value: "ID", help: "stop after the migration ID")

    static let migratePlan = Command(
        name: "migrate plan", summary: "show what migrate run would do, and change nothing",
        details: """
            Runs each migration of the configured packs, in order, on a copy of the values that it asks for. Prints
            what it would read, write and remove: addresses and sizes in bytes, never values. Ends with status 2 if
            one would fail.
            """,
        options: [only, upTo, json]
    ) { arguments, session in
        let plan = try await session.router().migrations.plan(selection(arguments))
        if session.json { try Output.json(plan) } else { MigrationText.print(plan) }
        return plan.refusals.isEmpty ? .done : .failure
    }

    static let migrateRun = Command(
        name: "migrate run", summary: "run the pending migrations",
        details: """
            Runs the migrations of the configured packs in the order of their dependencies. Each reads back what it
            wrote before it removes anything. If one fails, only the migrations that depend on it are not run. The
            next run resumes an interrupted one. Ends with status 2 if one fails, or if something remains to be
            removed.
            """,
        options: [only, upTo, json]
    ) { arguments, session in
        let selection = try selection(arguments)
        let bar = ProgressLine("migrating")
        Interruption.begin()
        let report = try await session.router().migrate(selection) {
            Interruption.endHere(
                "migration \($0.index + 1) of \($0.count) was running", hint: "run it again to go on")
            bar.show($0.done, of: $0.total, $0.count > 1 ? "migrating, \($0.index + 1) of \($0.count)" : nil)
        }
        bar.finish()
        if session.json { try Output.json(report.entries.map(MigrationRow.init)) } else { MigrationText.print(report) }
        let isDone = report.entries.allSatisfy { $0.outcome != .failed && $0.outcome != .cleanupPending }
        return isDone ? .done : .failure
    }

    static let migrateStatus = Command(
        name: "migrate status", summary: "show the state of each migration",
        details: """
            Prints the migrations of the configured packs, and those in the ledgers that no pack has any more: for each,
            the state, the destination, when it ran, and until when it can be rolled back. Ends with status 2 if there
            is something to do.
            """,
        options: [json]
    ) { _, session in
        let found = try await session.router().migrations.status()
        if session.json { try Output.json(found.migrations) } else { MigrationText.print(found.migrations) }
        MigrationText.complain(found.failures)
        return found.failures.isEmpty && !found.migrations.contains { $0.needsAttention } ? .done : .failure
    }

    static let migrateHistory = Command(
        name: "migrate history", summary: "list past migrations, the oldest first",
        details: "Reads the ledgers of all stores, whichever program has run the migrations.", options: [json]
    ) { _, session in
        let found = try await session.router().migrations.history()
        if session.json {
            try Output.json(found.records.map(MigrationRow.init))
        } else {
            MigrationText.print(found.records)
        }
        MigrationText.complain(found.failures)
        return found.failures.isEmpty ? .done : .failure
    }

    static let migrateResume = Command(
        name: "migrate resume", summary: "finish interrupted batches and migrations",
        details: """
            Completes committed batches and bulk moves, and finishes the removals of migrations, including those that no
            pack has any more. Ends with status 2 if something remains.
            """,
        options: [json]
    ) { _, session in
        let resumption = try await session.router().migrations.resume()
        if session.json { try Output.json(resumption) } else { MigrationText.print(resumption) }
        return resumption.isComplete ? .done : .failure
    }

    private static let key = Option(
        name: "--key", value: "ADDRESS", help: "the migration's destination, if several destinations have this id")

    static let migrateRollback = Command(
        name: "migrate rollback", operands: "ID", count: 1...1, summary: "undo a migration",
        details: """
            Removes or restores what the migration wrote, and puts back what it removed. It does all of that, or nothing
            if a value has been changed since. You can roll back for as many days as migrations.grace says; see:
            ld-host migrate status
            """,
        options: [key]
    ) { arguments, session in
        let id = arguments.operands[0]
        let bar = ProgressLine("undoing")
        try await session.router().migrations.rollback(id, of: arguments.value("--key")) { bar.show($0) }
        bar.finish()
        Output.remark("ld-host: '\(Printable(id))' is undone")
        return .done
    }

    static let migrateConfirm = Command(
        name: "migrate confirm", operands: "ID", count: 1...1,
        summary: "make a migration final: it cannot be undone any more", options: [key]
    ) { arguments, session in
        let id = arguments.operands[0]
        try await session.router().migrations.confirm(id, of: arguments.value("--key"))
        Output.remark("ld-host: '\(Printable(id))' is final")
        return .done
    }

    private static func selection(_ arguments: Arguments) throws -> MigrationSelection {
        switch (arguments.value("--only"), arguments.value("--up-to")) {
        case (nil, nil): return .all
        case (let id?, nil): return .only(id)
        case (nil, let id?): return .upTo(id)
        default: throw UsageError("--only and --up-to cannot be combined", hint: "run: ld-host help migrate run")
        }
    }
}

extension Command {
    static let migrateLedgerRepair = Command(
        name: "migrate ledger repair", summary: "find damaged ledger pages, and put them aside",
        details: """
            Each destination has a page in its own store that says what was migrated to it. While a page cannot be read,
            no migration to its destination runs. For each page, prints what is damaged and what the store has. Changes
            nothing without --apply, which keeps damaged pages under another name; their migrations then count as not
            run. It never invents or deletes a page, and never deletes migrated values. Ends with status 2 if a page is
            damaged or cannot be read.
            """,
        options: [Option(name: "--apply", help: "put damaged pages aside"), json]
    ) { arguments, session in
        let report = try await session.router().migrations.checkLedgers(puttingAside: arguments.has("--apply"))
        if session.json {
            try Output.json(report)
            return report.isSound ? .done : .failure
        }
        for page in report.pages {
            let what =
                switch page.state {
                case .sound: "sound, \(page.rows) migration\(page.rows == 1 ? "" : "s")"
                case .damaged: "damaged"
                case .unreadable: "cannot be read"
                case .putAside: "put aside"
                }
            Output.line("\(Printable(page.destination)) in '\(Printable(page.store))': \(what)")
            for remark in page.remarks { Output.line("  \(Printable(remark))") }
        }
        for failure in report.failures { Output.remark("ld-host: \(Printable(failure))") }
        if report.pages.isEmpty { Output.remark("ld-host: nothing has been migrated") }
        if report.pages.contains(where: { $0.state == .damaged }) {
            Output.remark("ld-host: nothing was changed; --apply puts the damaged pages aside")
        }
        return report.isSound ? .done : .failure
    }
}
