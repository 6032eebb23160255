internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI

/// Runs checks on a subject, one after the other, on the calling thread.
package struct ConformanceRun {
    let subject: ConformanceSubject
    /// The folder below which components are opened; each check has its own.
    let folder: String

    package init(_ subject: ConformanceSubject, folder: String) {
        self.subject = subject
        self.folder = folder
    }

    /// - Parameters:
    ///   - checks: The checks, in the order in which they run.
    ///   - begin: Called before each check that applies.
    ///   - end: Called with each result.
    package func callAsFunction(
        _ checks: [ConformanceCheck], begin: (ConformanceCheck) -> Void = { _ in },
        end: (ConformanceResult) -> Void
    ) {
        let probe: OpenComponent
        do { probe = try subject.open(in: folder(for: "probe")) } catch {
            for check in checks {
                end(
                    ConformanceCheck.openings.contains(check.id)
                        ? ConformanceResult(check, .failed, "the \(subject.noun) does not open: \(error)")
                        : ConformanceResult(check, .skipped, "the \(subject.noun) does not open"))
            }
            return
        }
        for check in checks {
            if let reason = check.requirements.lazy.compactMap({ $0.unmet(subject, probe) }).first {
                end(ConformanceResult(check, .skipped, reason))
                continue
            }
            begin(check)
            end(result(of: check))
        }
        probe.close()
    }

    /// Runs checks on a subject in this process, with a temporary folder that is removed afterwards.
    static func report(
        on subject: ConformanceSubject, _ checks: [ConformanceCheck], source: String
    ) async throws -> ConformanceReport {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        // Checks block and occupy many threads, which neither Swift's pool nor the host's own threads are for.
        let results = try await Worker.result {
            var results: [ConformanceResult] = []
            ConformanceRun(subject, folder: folder.path)(checks) { results.append($0) }
            return results
        }
        return ConformanceReport(component: subject.component.id, source: source, results: results)
    }

    private func result(of check: ConformanceCheck) -> ConformanceResult {
        do {
            try check.attempt(subject, folder(for: check.id))
            return ConformanceResult(check, .passed)
        } catch let error as StorageError {
            return ConformanceResult(
                check, .failed, "the component reported an error (code \(error.code.name)): \(error)")
        } catch {
            return ConformanceResult(check, .failed, "\(error)")
        }
    }

    private func folder(for id: String) -> String {
        let path = "\(folder)/\(id)"
        mkdir(path, 0o700)
        return path
    }
}
