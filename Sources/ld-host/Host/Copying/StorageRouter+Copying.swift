internal import FoundationEssentials
internal import LocalDataAPI

extension StorageRouter {
    /// Copies every value of one store to another: for the change of a domain from one to the other.
    ///
    /// Each value is read back and compared. Values that the destination has already are left as they are, so an
    /// interrupted run is taken up by the next one. The source is only read, unless it is to be moved: then, when
    /// everything has arrived, each value is removed that the destination has too. A store that is not configured is
    /// opened as the component of that name.
    ///
    /// - Parameters:
    ///   - moving: Whether to remove the values from the source in the end.
    ///   - overwriting: Whether to replace values of which the destination has another.
    ///   - planOnly: Compares, and changes nothing.
    ///   - progress: Told how many of how many values are done, on any thread.
    /// - Throws: `busy` if another process is at it, or if the destination has other values and is not to be
    ///   overwritten: then nothing was copied.
    public func copyStore(
        _ from: String, to: String, moving: Bool = false, overwriting: Bool = false, planOnly: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> StoreCopyReport {
        let snapshot = try await snapshot()
        return try await onIOThread { () throws(StorageError) in
            let copy = try Self.copy(from, to, snapshot)
            var run = CopyRun(copy: copy, report: StoreCopyReport(from: from, to: to), progress: progress)
            let intent =
                planOnly
                ? nil
                : try CopyIntent.take(from: from, to: to, moving: moving, folder: snapshot.settings.folders.journal)
            try run.look()
            if !run.report.conflicts.isEmpty, !overwriting, !planOnly {
                try intent?.finish()
                throw StorageError(
                    .busy,
                    "store '\(to)' has other values than '\(from)' at \(run.report.conflicts.count) addresses, e.g. "
                        + "'\(run.report.conflicts[0])'; nothing was copied",
                    hint: "see them with --plan; --overwrite replaces them")
            }
            if !planOnly, let key = run.differentKeys.first {
                try intent?.finish()
                throw StorageError(
                    .busy,
                    "store '\(to)' has other keys than '\(from)' at '\(key)', which are never overwritten: what they "
                        + "seal would be lost; nothing was copied",
                    hint: "copy in the other direction, or values one by one: get and set")
            }
            guard !planOnly else {
                run.report.copied = run.missing.count + (overwriting ? run.report.conflicts.count : 0)
                if moving { run.report.removed = run.report.equal + run.report.copied }
                return run.report
            }
            try run.copy(overwriting: overwriting)
            if moving { try run.remove() }
            try intent?.finish()
            return run.report
        }
    }

    private static func copy(_ from: String, _ to: String, _ snapshot: RouterSnapshot) throws(StorageError) -> StoreCopy
    {
        let (source, destination) = (snapshot.slotOrComponent(from), snapshot.slotOrComponent(to))
        let (left, right) = (source.settings, destination.settings)
        guard left.name != right.name, left.component != right.component || left.options != right.options else {
            throw StorageError(
                .invalidConfiguration, "'\(from)' and '\(to)' are the same store", hint: "name two different stores")
        }
        let copy = StoreCopy(
            snapshot: snapshot, source: try source.openIfNeeded(), destination: try destination.openIfNeeded())
        for open in [copy.source, copy.destination] where open.store.abilities.enumeration == nil {
            throw StorageError(
                .unsupported, "store '\(open.name)' cannot list what it holds",
                hint: "copy value by value: get and set")
        }
        guard !copy.source.isKeychain || copy.destination.isKeychain else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(to)' would keep in plain what '\(from)' seals; nothing was copied",
                hint: "give it a sealing: ld-host config set stores.NAME.sealing keyFile")
        }
        return copy
    }
}

/// One run over all values.
private struct CopyRun {
    let copy: StoreCopy
    var report: StoreCopyReport
    let progress: @Sendable (Int, Int) -> Void
    private(set) var missing: [StorageAddress] = []
    private var different: [StorageAddress] = []
    private var present: [StorageAddress] = []

    init(copy: StoreCopy, report: StoreCopyReport, progress: @escaping @Sendable (Int, Int) -> Void) {
        self.copy = copy
        self.report = report
        self.progress = progress
    }

    /// Addresses of the host's own keys of which the destination has others.
    var differentKeys: [StorageAddress] { different.filter(copy.snapshot.isReserved) }

    mutating func look() throws(StorageError) {
        for address in try copy.addresses() {
            report.total += 1
            do throws(StorageError) {
                switch try copy.compare(address) {
                case .missing: missing.append(address)
                case .equal: present.append(address)
                case .different: different.append(address)
                }
            } catch {
                guard error.code == .cannotOpen else { throw error }
                report.failures["\(address)"] = error.message
            }
        }
        report.equal = present.count
        report.conflicts = different.map { "\($0)" }
    }

    mutating func copy(overwriting: Bool) throws(StorageError) {
        let all = missing + (overwriting ? different : [])
        for (index, address) in all.enumerated() {
            do throws(StorageError) {
                try copy.copy(address)
                report.copied += 1
                present.append(address)
            } catch {
                switch error.code {
                case .cannotOpen: report.failures["\(address)"] = error.message
                // Removed by its owner meanwhile.
                case .notFound: break
                default: throw error
                }
            }
            progress(index + 1, all.count)
        }
    }

    /// Removes the host's keys last: whatever happens before, what they seal can be opened.
    mutating func remove() throws(StorageError) {
        let keysLast = present.filter { !copy.snapshot.isReserved($0) } + present.filter(copy.snapshot.isReserved)
        for address in keysLast where try copy.remove(address) { report.removed += 1 }
    }
}
