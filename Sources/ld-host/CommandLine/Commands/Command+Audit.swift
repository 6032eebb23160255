internal import FoundationEssentials
internal import LocalDataHost

extension Command {
    static let audit = Command(
        name: "audit", summary: "tell of every key what it is, where it lies, and how it is protected",
        details: """
            The keys are those of the catalogs that the configuration names, also those never written, and everything
            that is stored besides. Values are not read.
            """,
        options: [json, Option(name: "--html", value: "FILE", help: "write one self-contained HTML page to FILE")]
    ) { arguments, session in
        let report = try await StorageAuditReport.make(of: session.router())
        if let file = arguments.value("--html") {
            try HostFile.write(Data(report.html().utf8), to: file)
            Output.remark("ld-host: the audit is in \(Printable(file))")
        } else if session.json {
            try Output.json(report)
        } else {
            Output.write(Data(report.text().utf8))
        }
        return .done
    }
}
