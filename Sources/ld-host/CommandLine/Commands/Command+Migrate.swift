internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private static let only = Option(
        name: "--only", value: "ID", help: "the migration ID and those that it depends on")
    private static let upTo = Option(name: "--up-to", value: "ID", help: "no migration after ID")

    static let migratePlan = Command(
        name: "migrate plan", summary: "tell what migrate run would do now, and change nothing",
        details: """
            Each migration of the configured packs is run on a copy of what it asks for, in order, and what it would read,
            write and remove is shown: addresses and sizes in bytes, never values. Ends with status 2 if one would fail.
            """,
        options: [only, upTo, json]
    ) { arguments, session in
        let range = try selection(arguments)
        let plan = try await session.router().migrationPlan(only: range.only, upTo: range.last)
        if session.json { try Output.json(plan) } else { MigrationText.print(plan) }
        return plan.refusals.isEmpty ? .done : .failure
    }

    static let migrateRun = Command(
        name: "migrate run", summary: "bring older data to where it belongs",
        details: """
            Runs the migrations of the configured packs, each after those that it depends on. What one removes is removed last,
            after what it wrote has been read back; a run that is interrupted is taken up by the next. What fails keeps only
            what depends on it from being run. Ends with status 2 if one fails, or something is left to be removed.
            """,
        options: [only, upTo, json]
    ) { arguments, session in
        let range = try selection(arguments)
        let bar = ProgressLine("migrating")
        let report = try await session.router().migrateAll(only: range.only, upTo: range.last) {
            bar.show($0.done, of: $0.total, $0.count > 1 ? "migrating, \($0.index + 1) of \($0.count)" : nil)
        }
        bar.finish()
        if session.json { try Output.json(report.entries.map(MigrationRow.init)) } else { MigrationText.print(report) }
        let isDone = report.entries.allSatisfy { $0.outcome != .failed && $0.outcome != .cleanupPending }
        return isDone ? .done : .failure
    }

    static let migrateStatus = Command(
        name: "migrate status", summary: "tell of every migration how far it is",
        details: """
            Those of the configured packs, and those that the ledgers have and nobody knows any more: each with its state, its
            destination, when it was run, and until when it can be rolled back. Ends with status 2 if something is to be done.
            """,
        options: [json]
    ) { _, session in
        let (migrations, failures) = try await session.router().migrationStatus()
        if session.json { try Output.json(migrations) } else { MigrationText.print(migrations) }
        MigrationText.complain(failures)
        return failures.isEmpty && !migrations.contains { $0.needsAttention } ? .done : .failure
    }

    static let migrateHistory = Command(
        name: "migrate history", summary: "list what has been migrated, in the order of the runs",
        details: "Whatever app or program did it, from the ledgers of all stores.", options: [json]
    ) { _, session in
        let (records, failures) = try await session.router().migrationHistory()
        if session.json { try Output.json(records.map(MigrationRow.init)) } else { MigrationText.print(records) }
        MigrationText.complain(failures)
        return failures.isEmpty ? .done : .failure
    }

    static let migrateResume = Command(
        name: "migrate resume", summary: "finish what was interrupted",
        details: """
            Batches that were decided are put in place, moves of many values go on, and what migrations have left to be removed
            is removed, also of those that nobody knows any more. Ends with status 2 if something is still left.
            """,
        options: [json]
    ) { _, session in
        let resumption = try await session.router().resumeMigrations()
        if session.json { try Output.json(resumption) } else { MigrationText.print(resumption) }
        return resumption.isComplete ? .done : .failure
    }

    private static let key = Option(
        name: "--key", value: "ADDRESS", help: "the migration of this destination, if several have one of this id")

    static let migrateRollback = Command(
        name: "migrate rollback", operands: "ID", count: 1...1, summary: "undo a migration",
        details: """
            What it wrote is removed or becomes what it was, and what it removed is put back: all of it, or nothing if a value
            was changed since. That is possible for as many days as migrations.grace says; see: ld-host migrate status
            """,
        options: [key]
    ) { arguments, session in
        let id = arguments.operands[0]
        let bar = ProgressLine("undoing")
        try await session.router().rollbackMigration(id, of: arguments.value("--key")) { bar.show($0) }
        bar.finish()
        Output.remark("ld-host: '\(Printable(id))' is undone")
        return .done
    }

    static let migrateConfirm = Command(
        name: "migrate confirm", operands: "ID", count: 1...1,
        summary: "make a migration final: what it replaced and removed is kept no longer", options: [key]
    ) { arguments, session in
        let id = arguments.operands[0]
        try await session.router().confirmMigration(id, of: arguments.value("--key"))
        Output.remark("ld-host: '\(Printable(id))' is final")
        return .done
    }

    private static func selection(_ arguments: Arguments) throws -> (only: String?, last: String?) {
        let (only, last) = (arguments.value("--only"), arguments.value("--up-to"))
        guard only == nil || last == nil else {
            throw UsageError("--only and --up-to exclude each other", hint: "run: ld-host help migrate run")
        }
        return (only, last)
    }
}
