internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// Tries checks on a subject, one after the other, on the calling thread.
package struct ConformanceRun {
    let subject: ConformanceSubject
    /// The folder below which stores are opened; each check has one of its own.
    let folder: String

    package init(_ subject: ConformanceSubject, folder: String) {
        self.subject = subject
        self.folder = folder
    }

    /// - Parameters:
    ///   - checks: What is tried, in this order.
    ///   - begin: Called before each check that applies.
    ///   - end: Called with each result.
    package func callAsFunction(
        _ checks: [ConformanceCheck], begin: (ConformanceCheck) -> Void = { _ in },
        end: (ConformanceResult) -> Void
    ) {
        let probe: LoadedStore
        do { probe = try subject.open(in: folder(for: "probe")) } catch {
            for check in checks {
                end(
                    check.id == ConformanceCheck.opening
                        ? ConformanceResult(check, .failed, "the store does not open: \(error)")
                        : ConformanceResult(check, .skipped, "the store does not open"))
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

    private func result(of check: ConformanceCheck) -> ConformanceResult {
        do {
            let store = try StoreUnderTest(subject, check: check.id, folder: folder(for: check.id))
            defer { store.end() }
            try check.body(store)
            return ConformanceResult(check, .passed)
        } catch let error as StorageError {
            return ConformanceResult(check, .failed, "an error was reported (code \(error.code.rawValue)): \(error)")
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
