internal import FoundationEssentials
internal import LocalDataAPI

extension StorageRouter {
    /// Copies every value of one store to another, or those of some domains: for the change of a domain from one to the
    /// other.
    ///
    /// Each value is read back and compared with what was copied. Values that the destination has already are left as
    /// they are, so an interrupted run is taken up by the next one. The source is only read, unless it is to be moved:
    /// then, when everything has arrived, each value is removed that the destination has too. What another process sets
    /// meanwhile is neither overwritten nor removed: it is copied again, or stays where it is and is in the report as
    /// changed. A store without transactions (a keyring) compares right before it changes. A store that is not
    /// configured is opened as the component of that name.
    ///
    /// - Parameters:
    ///   - domains: The names of the domains whose values are copied; none for all.
    ///   - moving: Whether to remove the values from the source in the end. The host's own keys stay as long as the
    ///     source serves the keychain.
    ///   - overwriting: Whether to replace values of which the destination has another.
    ///   - planOnly: Compares, and changes nothing.
    ///   - progress: Told how many of how many values are done, on any thread.
    /// - Throws: `busy` if another process is at it, or if the destination has other values and is not to be
    ///   overwritten: then nothing was copied.
    public func copyStore(
        _ from: String, to: String, domains: [String] = [], moving: Bool = false, overwriting: Bool = false,
        planOnly: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> StoreCopyReport {
        let snapshot = try await snapshot()
        let domains = Set(domains).sorted()
        try snapshot.checkDomains(domains)
        return try await onIOThread { () throws(StorageError) in
            let copy = try Self.copy(from, to, domains, snapshot)
            var run = CopyRun(copy: copy, report: StoreCopyReport(from: from, to: to), progress: progress)
            let intent =
                planOnly
                ? nil
                : try CopyIntent.take(
                    from: from, to: to, domains: domains, moving: moving, folder: snapshot.settings.folders.journal)
            try run.look()
            if !run.report.conflicts.isEmpty, !overwriting, !planOnly {
                try intent?.finish()
                throw StorageError(
                    .busy,
                    "store '\(to)' has other values than '\(from)' at \(run.report.conflicts.count) addresses, e.g. "
                        + "'\(run.report.conflicts[0])'; nothing was copied",
                    hint: "see them with --plan; --overwrite replaces them")
            }
            if !planOnly, let key = try run.differentKey() {
                try intent?.finish()
                throw StorageError(
                    .busy,
                    "store '\(to)' has other keys than '\(from)' at '\(key)', which are never overwritten: what they "
                        + "seal would be lost; nothing was copied",
                    hint: "copy in the other direction, or values one by one: get and set")
            }
            guard !planOnly else {
                run.report.copied = run.missing.count + (overwriting ? run.report.conflicts.count : 0)
                if moving { try run.planRemoval(overwriting: overwriting) }
                return run.report
            }
            try run.copy(overwriting: overwriting)
            if moving {
                try run.remove()
                run.wipe()
            }
            try intent?.finish()
            return run.report
        }
    }

    /// Forgets a copy that was interrupted. What it has copied or moved so far stays so.
    ///
    /// - Throws: `notFound` if no such copy was interrupted; `busy` if a process is at it.
    public func giveUpCopy(_ from: String, to: String, domains: [String] = []) async throws {
        let folder = try await snapshot().settings.folders.journal
        try await onIOThread { () throws(StorageError) in
            try CopyIntent.giveUp(from: from, to: to, domains: Set(domains).sorted(), folder: folder)
        }
    }

    private static func copy(
        _ from: String, _ to: String, _ domains: [String], _ snapshot: RouterSnapshot
    ) throws(StorageError) -> StoreCopy {
        let (source, destination) = (snapshot.slotOrComponent(from), snapshot.slotOrComponent(to))
        let (left, right) = (source.settings, destination.settings)
        guard left.name != right.name, left.component != right.component || left.options != right.options else {
            throw StorageError(
                .invalidConfiguration, "'\(from)' and '\(to)' are the same store", hint: "name two different stores")
        }
        let copy = StoreCopy(
            snapshot: snapshot, source: try source.openIfNeeded(), destination: try destination.openIfNeeded(),
            domains: domains)
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
    /// What this run has put at the destination: the hash of each value's opened bytes.
    private var copied: [StorageAddress: UInt64] = [:]

    init(copy: StoreCopy, report: StoreCopyReport, progress: @escaping @Sendable (Int, Int) -> Void) {
        self.copy = copy
        self.report = report
        self.progress = progress
    }

    /// An address of the host's own keys of which the destination has others.
    func differentKey() throws(StorageError) -> StorageAddress? {
        for address in different where try copy.isHostKey(address) { return address }
        return nil
    }

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
                guard [.cannotOpen, .corrupt].contains(error.code) else { throw error }
                report.failures["\(address)"] = error.message
            }
        }
        report.equal = present.count
        report.conflicts = different.map { "\($0)" }
    }

    mutating func copy(overwriting: Bool) throws(StorageError) {
        let some = missing.map { ($0, false) } + (overwriting ? different.map { ($0, true) } : [])
        // No ring is in the destination before its list says that it is one.
        let all = some.filter { RingList.holds($0.0.place) } + some.filter { !RingList.holds($0.0.place) }
        for (index, (address, replaces)) in all.enumerated() {
            do throws(StorageError) {
                switch try copy.copy(address, replacing: replaces ? .anything : .nothing) {
                case .copied(let digest):
                    report.copied += 1
                    present.append(address)
                    copied[address] = digest
                // Removed by its owner meanwhile.
                case .gone: break
                case .changed: report.changed.append("\(address)")
                }
            } catch {
                guard error.code == .cannotOpen || error.code == .corrupt else { throw error }
                report.failures["\(address)"] = error.message
            }
            progress(index + 1, all.count)
        }
    }

    /// Removes the host's keys last: whatever happens before, what they seal can be opened. As long as the source
    /// serves the keychain they stay.
    mutating func remove() throws(StorageError) {
        let (values, keys) = try parted(present)
        for address in values + (keepsKeys ? [] : keys) {
            if try remove(address) { report.removed += 1 }
        }
        if keepsKeys { report.kept = keys.map { "\($0)" } }
    }

    /// What ``remove()`` would do.
    mutating func planRemoval(overwriting: Bool) throws(StorageError) {
        let (values, keys) = try parted(present + missing + (overwriting ? different : []))
        report.removed = values.count + (keepsKeys ? 0 : keys.count)
        if keepsKeys { report.kept = keys.map { "\($0)" } }
    }

    private var keepsKeys: Bool { copy.sourceServesKeychain }

    private func parted(
        _ addresses: [StorageAddress]
    ) throws(StorageError) -> (values: [StorageAddress], keys: [StorageAddress]) {
        var (values, keys): ([StorageAddress], [StorageAddress]) = ([], [])
        for address in addresses {
            if try copy.isHostKey(address) { keys.append(address) } else { values.append(address) }
        }
        return (values, keys)
    }

    /// Removes a value from the source; one that was changed since this run copied it is copied again before.
    private mutating func remove(_ address: StorageAddress) throws(StorageError) -> Bool {
        for attempt in 1...Self.attempts {
            switch try copy.remove(address) {
            case .copied: return true
            case .gone:
                // Its owner has removed it: what this run has copied is not to come back in its place.
                if let digest = copied[address] { try copy.withdraw(address, digest) }
                return false
            case .changed: break
            }
            guard attempt < Self.attempts, let digest = copied[address],
                case .copied(let newer) = try copy.copy(address, replacing: .value(digest))
            else { break }
            copied[address] = newer
        }
        if let digest = copied[address] { try copy.withdraw(address, digest) }
        report.changed.append("\(address)")
        return false
    }

    /// Clears the source's files of what has come to a better protected store.
    mutating func wipe() {
        guard report.removed > 0, copy.destination.isKeychain, !copy.source.isKeychain else { return }
        for place in Set(present.map(\.place)) {
            do throws(StorageError) { try copy.source.store.wipe(place) } catch {
                report.failures["what was removed from '\(place)', in the files of store '\(report.from)',"] =
                    error.message
            }
        }
    }

    private static let attempts = 4
}
