internal import LocalDataAPI

/// What sealing anew does, or would do.
public struct ResealReport: Encodable, Sendable {
    /// The active key, under which values are sealed.
    public let key: String
    /// Values that the ring seals.
    public var total = 0
    /// Values that were, or would be, sealed anew: those that another key sealed, and in a sealed store those that another
    /// cipher sealed than the one that is configured.
    public var resealed = 0
    /// How many of them each key sealed.
    public var others: [String: Int] = [:]
    /// Values that could not be opened, with the reason; they stay as they are.
    public var failures: [String: String] = [:]
}

extension StorageRouter {
    /// Seals what other keys of a ring have sealed anew under its active key. Every value is readable at every instant,
    /// also after a kill; a run that was interrupted is taken up by the next.
    ///
    /// - Parameters:
    ///   - planOnly: Looks at the headers alone and changes nothing.
    ///   - progress: Told how many of how many values are done, on any thread.
    /// - Returns: What was done. A value that cannot be opened is in the report, and does not stop the others.
    /// - Throws: `busy` if another process is at it; what keeps a place from being looked at or a value from being
    ///   written.
    public func reseal(
        _ name: KeyRingName = .master, planOnly: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> ResealReport {
        try await withRing(name) { (scan) throws(StorageError) in
            guard let state = try scan.ring.state(), let active = state.active else {
                throw StorageError(
                    .notFound, "\(scan.ring.name) has no keys yet: nothing is sealed", hint: "run: ld-host keys list")
            }
            var style: EnvelopeStyle?
            if case .store(let store) = name {
                style = try scan.snapshot.slot(ofStore: store)?.openIfNeeded().sealing?.style
            }
            let resealing = Resealing(scan: scan, style: style)
            var report = ResealReport(key: "\(active.id)")
            var failures: [String: String] = [:]
            var stale: [SealedScan.Finding] = []
            let doubt: SealedScan.Doubt = { (address, error) throws(StorageError) in
                failures["\(address)"] = error.message
            }
            try scan.forEach(in: state.places, doubt: doubt) { (finding) throws(StorageError) in
                // Material from outside the ring has an id of its own, and no place in it.
                guard state[finding.header.keyID] != nil else { return }
                report.total += 1
                guard resealing.isStale(finding.header, active: active.id) else { return }
                report.others["\(finding.header.keyID)", default: 0] += 1
                stale.append(finding)
            }
            report.failures = failures
            guard !planOnly else {
                report.resealed = stale.count
                return report
            }
            guard let work = try ResealIntent.take(scan, to: active.id, isNeeded: !stale.isEmpty) else { return report }
            for (index, finding) in stale.enumerated() {
                do throws(StorageError) {
                    if try resealing.reseal(finding) { report.resealed += 1 }
                } catch {
                    guard error.code == .cannotOpen else { throw error }
                    report.failures["\(finding.address)"] = error.message
                }
                progress(index + 1, stale.count)
            }
            try work.finish()
            return report
        }
    }
}
