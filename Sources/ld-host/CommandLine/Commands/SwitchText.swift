internal import HostClients
internal import LocalDataHost

/// What `ld-host store switch` prints.
struct SwitchText {
    let report: StoreSwitchReport
    let domains: [String]
    let isPlan: Bool

    func print() {
        guard !report.parts.isEmpty else {
            return Output.line("'\(report.to)' serves \(names(domains)) already")
        }
        let would = isPlan ? "would be" : "\(was)"
        for part in report.parts {
            Output.line(
                "\(part.copied.counted("value")) of \(names(part.domains)) \(verb(part.copied, would)) copied from "
                    + "'\(part.from)' to '\(report.to)'")
        }
        if let held = report.heldMilliseconds {
            Output.line(
                "\(names(report.parts.flatMap(\.domains))) \(report.parts.flatMap(\.domains).count == 1 ? "is" : "are") "
                    + "served by '\(report.to)' now; programs that write were held for "
                    + "\(Int(held.rounded(.up))) ms")
        }
        for part in report.parts where part.removed > 0 {
            Output.line("\(part.removed.counted("value")) \(verb(part.removed, would)) removed from '\(part.from)'")
        }
        for address in report.parts.flatMap(\.changed) {
            Output.remark(
                "ld-host: \(Printable(address)) stays in the former store: a program that does not follow the "
                    + "configuration has changed it there")
        }
    }

    private var was: String { "was" }

    private func verb(_ count: Int, _ text: String) -> String { text == "was" && count != 1 ? "were" : text }

    private func names(_ domains: [String]) -> String { domains.map { "'\($0)'" }.joined(separator: ", ") }
}
