internal import FoundationEssentials
internal import LocalDataHost

/// The child's part of inspecting plugins.
enum Inspection {
    /// Looks at the files and prints the reports.
    static func print(_ paths: [String], milliseconds: Int64) -> Int32 {
        let reports = InspectionProcess.reports(on: paths, timeout: .milliseconds(milliseconds))
        guard let data = try? JSONEncoder().encode(reports) else { return ExitStatus.failure.code }
        Output.write(data)
        return ExitStatus.done.code
    }
}
