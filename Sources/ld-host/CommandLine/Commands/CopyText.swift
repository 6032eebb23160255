internal import HostClients
internal import LocalDataHost

/// What `store copy` prints: to stdout what it has done, or would do; to stderr what is left to do.
struct CopyText {
    let report: StoreCopyReport
    let isPlan: Bool

    func print() {
        printDone()
        if isPlan {
            for difference in report.differences { Output.line(line(difference)) }
        } else {
            for ending in [StoreCopyDifference.Ending.overwritten, .kept, .destinationIsLater] {
                for difference in report.differences(ending) { Output.line(line(difference)) }
            }
        }
        remark()
    }

    private func verb(_ count: Int) -> String { isPlan ? "would be" : count == 1 ? "was" : "were" }

    private func printDone() {
        Output.line(
            "\(report.copied) of \(report.total.counted("value")) \(verb(report.total)) copied to '\(report.to)', "
                + "which had \(report.equal)")
        if report.sealedInPlace > 0 {
            Output.line(
                "\(report.sealedInPlace.counted("value")) \(verb(report.sealedInPlace)) sealed in the folders "
                    + "that both stores use")
        }
        if report.removed > 0 {
            Output.line("\(report.removed.counted("value")) \(verb(report.removed)) removed from '\(report.from)'")
        }
    }

    /// A difference in one line.
    private func line(_ difference: StoreCopyDifference) -> String {
        let (from, to) = ("'\(report.from)'", "'\(report.to)'")
        let unknown = "it is not known which is later"
        let ending =
            switch difference.ending {
            case .sourceIsLater: "the one in \(from) is later"
            case .destinationIsLater: "the one in \(to) is later"
            case .overwritten: "\(unknown), and --overwrite takes the one in \(from)"
            case .kept: "\(unknown), and --keep takes the one in \(to)"
            case .undecided: unknown
            case .separateKeys: "they are different keys, which are never overwritten: what they seal would be lost"
            }
        return "\(Printable(difference.address)): \(text(difference.source)) in \(from), "
            + "\(text(difference.destination)) in \(to); \(ending)"
    }

    private func text(_ version: CopyVersion) -> String {
        let size = version.size.map { Int(clamping: $0).counted("byte") } ?? "a value"
        return "\(size) of \(version.modified.map(UTCTime.milliseconds) ?? "an unknown time")"
    }

    private func remark() {
        let (from, to) = ("'\(report.from)'", "'\(report.to)'")
        if !report.kept.isEmpty {
            Output.remark(
                "ld-host: \(report.kept.count) of the host's own keys \(isPlan ? "would stay" : "stay") in "
                    + "\(from), which serves the keychain; to move them too: ld-host config set "
                    + "domains.keychain \(report.to), then the same again")
        }
        let (undecided, keys) = (report.differences(.undecided), report.differences(.separateKeys))
        if !undecided.isEmpty {
            Output.remark(
                "ld-host: \(undecided.count.counted("value")) \(undecided.count == 1 ? "differs" : "differ"), and both "
                    + "stay; to take what \(from) has: --overwrite, what \(to) has: --keep")
        }
        if !keys.isEmpty {
            Output.remark(
                "ld-host: \(keys.count.counted("key")) of the host's own \(keys.count == 1 ? "differs" : "differ"), and "
                    + "both stay; copy in the other direction, or copy what they seal with ld-host get and ld-host set")
        }
        if !isPlan { for difference in undecided + keys { Output.remark("ld-host: differs: \(line(difference))") } }
        remark(
            report.removedSince, "removed",
            "removed from \(to) since the last copy, not copied again; to copy what is missing: --overwrite")
        remark(
            report.removedFromSource, "still there", "removed from \(from) since the last copy, and still in \(to)")
        remark(report.changed, "changed", "changed during the copy: run again")
        for (address, reason) in report.failures.sorted(by: { $0.key < $1.key }) {
            Output.remark("ld-host: \(Printable(address)) stays where it is: \(Printable(reason))")
        }
    }

    private func remark(_ addresses: [String], _ word: String, _ what: String) {
        guard !addresses.isEmpty else { return }
        Output.remark("ld-host: \(addresses.count.counted("value")) \(what)")
        for address in addresses { Output.remark("ld-host: \(word): \(Printable(address))") }
    }
}
