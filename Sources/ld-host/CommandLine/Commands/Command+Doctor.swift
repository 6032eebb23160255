internal import LocalDataHost

extension Command {
    static let doctor = Command(
        name: "doctor", summary: "check configuration, plugins and stores, and tell what serves what and why",
        details: "Ends with status 2 if something needs attention.", options: [json]
    ) { _, session in
        let findings = await Diagnosis.run { () in try session.router() }
        if session.json {
            try Output.json(findings)
        } else {
            for finding in findings {
                Output.line("\(finding.isProblem ? "!!" : "ok")  \(Printable(finding.text))")
                if !finding.hint.isEmpty { Output.line("      \(Printable(finding.hint))") }
            }
        }
        return findings.contains { $0.isProblem } ? .failure : .done
    }
}
