internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let migrateLedgerRepair = Command(
        name: "migrate ledger repair", summary: "find damaged ledger pages, and set them aside",
        details: """
            Each destination has a page in its own store that says what was migrated to it. While a page cannot be
            read, no migration to its destination runs. Prints of each page what is damaged, and what the store has.
            Changes nothing without --apply, which keeps damaged pages under another name; their migrations then
            count as not run. It never invents or deletes a page, nor what a migration brought. Ends with status 2 if
            a page is damaged or cannot be read.
            """,
        options: [Option(name: "--apply", help: "set damaged pages aside"), json]
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
