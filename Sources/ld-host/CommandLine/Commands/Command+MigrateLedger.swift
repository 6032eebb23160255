internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let migrateLedgerRepair = Command(
        name: "migrate ledger repair", summary: "check the ledgers of migrations, and put damaged pages aside",
        details: """
            Each destination has a page in its own store, which says what was migrated to it. While a page cannot be read, no
            migration to its destination is run. Tells of every page what is wrong with it and what is there in fact, and
            changes nothing unless --apply is given: then damaged pages are kept under another name, and their migrations count
            as not run. A page is never guessed or deleted, nor is what a migration brought. Ends with status 2 if a page is
            damaged or cannot be read.
            """,
        options: [Option(name: "--apply", help: "put damaged pages aside"), json]
    ) { arguments, session in
        let report = try await session.router().checkLedgers(puttingAside: arguments.has("--apply"))
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
