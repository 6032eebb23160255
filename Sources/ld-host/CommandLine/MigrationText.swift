internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Plans, reports and states of migrations for people.
enum MigrationText {
    static func print(_ plan: MigrationPlan) {
        for note in plan.notes { Output.remark("ld-host: note: \(Printable(note))") }
        var entries = plan.entries
        if Output.isTerminal, !entries.isEmpty {
            entries = byUrgency(entries)
            summarize(entries)
        }
        for entry in entries {
            Output.line("\(name(of: entry.decision))  \(Printable(entry.migration))")
            if !entry.summary.isEmpty { Output.sentence("  \(Printable(entry.summary))", indent: 4) }
            if let pack = entry.pack { Output.line("  of the pack \(Printable(pack))") }
            Output.sentence("  why: \(Printable(entry.why))", indent: 4)
            if let count = entry.count, count > 0 { Output.line("  moves \(count) value\(count == 1 ? "" : "s")") }
            showKeys(of: entry)
        }
        if plan.entries.isEmpty { remarkOnNone() }
    }

    /// Failures first, then migrations that ran, then the others.
    private static func byUrgency(_ entries: [MigrationPlan.Entry]) -> [MigrationPlan.Entry] {
        let isDue = { (entry: MigrationPlan.Entry) in entry.decision == .run || entry.decision == .cleanup }
        return entries.filter { $0.decision == .refused } + entries.filter(isDue)
            + entries.filter { $0.decision != .refused && !isDue($0) }
    }

    /// The verdict in a line, and a row for each migration.
    private static func summarize(_ entries: [MigrationPlan.Entry]) {
        let refused = entries.count { $0.decision == .refused }
        let due = entries.count { $0.decision == .run || $0.decision == .cleanup }
        let fails = "\(refused) migration\(refused == 1 ? "" : "s") would fail"
        switch (refused, due) {
        case (0, 0): Output.line("ok: no migration is pending")
        case (0, _): Output.line("\(due) migration\(due == 1 ? " is" : "s are") pending")
        case (_, 0): Output.line(fails)
        default: Output.line("\(fails), and \(due) \(due == 1 ? "is" : "are") pending")
        }
        var table = Table()
        for entry in entries { table.add(name(of: entry.decision), entry.migration, entry.summary) }
        table.print()
        Output.line("")
    }

    /// A row for each key: the size of its value before, as far as the migration has looked, and after.
    private static func showKeys(of entry: MigrationPlan.Entry) {
        var before: [String: String] = [:]
        var after: [String: String] = [:]
        for value in entry.reads + entry.removes { before[value.address] = value.size.counted("byte") }
        for value in entry.removes { after[value.address] = "removed" }
        for value in entry.writes { after[value.address] = value.size.counted("byte") }
        var shown: Set<String> = []
        let addresses = (entry.reads + entry.writes + entry.removes).map(\.address).filter { shown.insert($0).inserted }
        guard !addresses.isEmpty else { return }
        var table = Table()
        table.add("  key", "before", "after")
        for address in addresses {
            table.add("  \(address)", before[address] ?? "not read", after[address] ?? "as it is")
        }
        table.print()
    }

    private static func name(of decision: MigrationPlan.Decision) -> String {
        switch decision {
        case .run: "run"
        case .cleanup: "clean up"
        case .nothingToDo: "nothing to do"
        case .destinationKept: "destination kept"
        case .skipped: "skip"
        case .refused: "refuse"
        }
    }

    static func print(_ report: MigrationReport) {
        for entry in report.entries {
            Output.line("\(Printable(entry.migration ?? "")): \(Printable("\(entry.outcome)"))")
        }
        for failure in report.failures {
            guard let error = failure.error else { continue }
            Output.complain(error)
        }
        if report.entries.isEmpty { remarkOnNone() }
    }

    static func print(_ migrations: [MigrationStatus]) {
        for status in migrations {
            let revision = (status.recordedRevision ?? status.revision).map { $0 == 1 ? "" : " (revision \($0))" } ?? ""
            Output.line("\(Printable(status.migration))\(revision): \(name(of: status.state))")
            if !status.summary.isEmpty { Output.sentence("  \(Printable(status.summary))", indent: 4) }
            Output.line("  destination: \(Printable(status.destination))")
            if let pack = status.pack { Output.line("  pack: \(Printable(pack))") }
            if let date = status.committed {
                let what = status.state == .notRun ? "moved a value that was asked for" : "run"
                Output.line("  \(what): \(UTCTime.text(date))")
            }
            if let date = status.keptUntil { Output.line("  can be rolled back until \(UTCTime.text(date))") }
            for address in status.left { Output.line("  left, as it was changed: \(Printable(address))") }
            for address in status.unwiped ?? [] {
                let end = status.keptUntil == nil ? "the next run tries again to clear it" : "until it is confirmed"
                Output.line("  may still be in plain text in its former store's files, \(end): \(Printable(address))")
            }
            for address in status.superseded ?? [] {
                Output.line("  older data that is no longer migrated: \(Printable(address))")
            }
            if status.state == .notRun || status.state == .done, let next = status.next {
                switch next {
                case .run, .cleanup: Output.line("  a run would migrate data; see: ld-host migrate plan")
                case .refused: Output.line("  a run would fail; see: ld-host migrate plan")
                case .nothingToDo, .destinationKept, .skipped: break
                }
            }
            if let problem = status.problem { Output.sentence("  problem: \(Printable(problem))", indent: 4) }
        }
        if migrations.isEmpty { remarkOnNone() }
    }

    private static func name(of state: MigrationStatus.State) -> String {
        switch state {
        case .notRun: "not run"
        case .cleanupPending: "migrated, sources not yet removed"
        case .interrupted: "interrupted; the next run resumes it"
        case .done: "done"
        case .unverified: "what it wrote did not read back; sources not removed"
        case .rollingBack: "its rollback was interrupted; to complete it: ld-host migrate resume"
        case .rolledBack: "rolled back"
        case .superseded: "superseded, as the key was set or removed without it"
        case .unreadable: "unknown, as the ledger cannot be read"
        }
    }

    static func print(_ records: [MigrationRecord]) {
        var table = Table()
        for record in records {
            table.add(
                UTCTime.text(record.date), "\(Printable(record.id))", "revision \(record.revision)",
                name(of: record.state), "\(Printable(record.destinations.joined(separator: " ")))")
        }
        table.print()
        if records.isEmpty { Output.remark("ld-host: nothing has been migrated") }
    }

    /// The words of `migrate status`.
    static func name(of state: MigrationRecord.State) -> String {
        switch state {
        case .published: "not cleaned up"
        case .copying: "interrupted"
        case .clean: "done"
        case .unverified: "not verified"
        case .rolledBack: "rolled back"
        case .superseded: "superseded"
        }
    }

    static func print(_ resumption: MigrationResumption) {
        for batch in resumption.batches { Output.line("completed: \(Printable(batch))") }
        for batch in resumption.waiting { Output.line("still interrupted: \(Printable(batch)); see: ld-host doctor") }
        for entry in resumption.entries {
            Output.line("\(Printable(entry.migration)): \(Printable(entry.problem ?? "finished"))")
        }
        for failure in resumption.failures { Output.remark("ld-host: \(Printable(failure))") }
        if resumption.isComplete, resumption.batches.isEmpty, resumption.entries.isEmpty {
            Output.remark("ld-host: nothing was interrupted")
        }
    }

    /// Says what keeps ledgers from being read.
    static func complain(_ failures: [StorageError]) {
        for failure in failures { Output.complain(failure) }
    }

    private static func remarkOnNone() {
        Output.remark("ld-host: no migration is known: no pack of the configuration (migrations.packs) has one")
    }
}

extension UTCTime {
    /// The same of a date.
    static func text(_ date: Date) -> String { text(date.nanoseconds) }
}
