internal import HostMoving
internal import HostSealing
public import HostStores
internal import LocalDataAPI

extension StorageRouter.KeyManagement {
    /// Re-encrypts values that other keys of a ring have sealed under its active key; for the master keys also those of
    /// rings that `encryption.service` and `encryption.account` named before. Every value is readable at every instant,
    /// even after a kill. The next run resumes an interrupted one.
    ///
    /// - Parameters:
    ///   - planOnly: Only reads the headers and changes nothing.
    ///   - progress: Called with the number of completed values and of all values, on any thread.
    /// - Returns: What was done. A value that cannot be opened is in the report, and does not stop the others.
    /// - Throws: `busy` if another process is resealing; why a location cannot be examined or a value cannot be
    ///   written.
    public func reseal(
        _ name: KeyRingName = .master, planOnly: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> ResealReport {
        try await withRing(name, .steady) { (scan) throws(StorageError) in
            var scan = scan
            var earlier: [String?: KeyRingState] = [:]
            if case .master = name {
                let rings = try scan.snapshot.rings.earlier()
                for ring in rings { earlier[ring.headerName] = try ring.state() }
                scan.earlier = rings
            }
            let isNew = try scan.ring.state()?.entries.isEmpty ?? true
            guard !isNew || earlier.values.contains(where: { !$0.entries.isEmpty }) else {
                throw StorageError(
                    .notFound, "\(scan.ring.name) has no keys yet: nothing is sealed", hint: "run: ld-host keys list")
            }
            if isNew, !planOnly { _ = try Self.makeKey(in: scan.ring) }
            let state = try scan.ring.state() ?? KeyRingState()
            let active = state.active?.id
            guard active != nil || isNew && planOnly else {
                throw StorageError(
                    .securityApplicationFailed, "\(scan.ring.name) has no active key", hint: "run: ld-host keys rotate")
            }
            var style: EnvelopeStyle?
            if case .store(let store) = name {
                style = try scan.snapshot.slot(ofStore: store)?.openIfNeeded().sealing?.style
            }
            let resealing = Resealing(scan: scan, style: style)
            var report = ResealReport(key: active.map { "\($0)" } ?? "a new key")
            var failures: [String: String] = [:]
            var stale: [SealedScan.Finding] = []
            let doubt: SealedScan.Doubt = { (address, error) throws(StorageError) in
                failures["\(address)"] = error.message
            }
            let places = earlier.values.reduce(into: state.places) { $0.formUnion($1.places) }
            try scan.forEach(in: places, doubt: doubt) { (finding) throws(StorageError) in
                let isOwn = finding.ring === scan.ring
                let known = (isOwn ? state : earlier[finding.ring.headerName])?[finding.header.keyID] != nil
                // Material from outside the ring has its own id, and no ring's name.
                guard known || !isOwn && finding.header.ring != nil else { return }
                report.total += 1
                guard resealing.isStale(finding.header, active: active) else { return }
                report.others["\(finding.header.keyID)", default: 0] += 1
                if !isOwn {
                    let (service, account) = MasterRings.parts(of: finding.ring.headerName)
                    report.earlierRings["\(service)/\(account)", default: 0] += 1
                }
                stale.append(finding)
            }
            var absent = try scan.absent(places)
            if !absent.isEmpty, !planOnly {
                // A location is recorded a moment before its first value is there; nobody seals now.
                absent = try scan.ring.whileAlone { (_) throws(StorageError) in try scan.absent(Set(absent)) }
            }
            for place in absent {
                failures["\(place.namespace)"] = "values were sealed in \(place.whereabouts)"
            }
            report.failures = failures
            guard !planOnly, let active else {
                report.resealed = stale.count
                return report
            }
            guard let work = try ResealIntent.take(scan, to: active, isNeeded: !stale.isEmpty) else { return report }
            var done = 0
            while done < stale.count {
                for isResealed in try resealing.resealStep(stale[done...]) {
                    let finding = stale[done]
                    do throws(StorageError) {
                        let isDone = if let isResealed { isResealed } else { try resealing.reseal(finding) }
                        if isDone { report.resealed += 1 }
                    } catch {
                        guard error.code == .cannotOpen else { throw error }
                        report.failures["\(finding.address)"] = error.message
                    }
                    done += 1
                    progress(done, stale.count)
                }
            }
            try work.finish()
            return report
        }
    }
}
