internal import FoundationEssentials
internal import LocalDataAPI

/// One run over all values.
struct CopyRun {
    let copy: StoreCopy
    var report: StoreCopyReport
    let moves: Bool
    let overwrites: Bool
    let progress: @Sendable (StepProgress) -> Void
    private(set) var missing: [StorageAddress] = []
    private var different: [StorageAddress] = []
    private var present: [StorageAddress] = []
    /// What sync knew at the destination of earlier copies of the values.
    private var outdated: [StorageAddress] = []
    /// Values that changed in the source since an earlier run copied them, with the hashes of those copies.
    private var updated: [(address: StorageAddress, copy: UInt64)] = []
    /// Values that changed in the destination since, with the times of the source's.
    private var superseded: [(address: StorageAddress, time: Int64)] = []
    private var record: CopyRecord
    /// For a run that moves values: the hash of each opened value that it has copied.
    private var copied: [StorageAddress: UInt64] = [:]

    init(
        copy: StoreCopy, moving: Bool, overwriting: Bool, report: StoreCopyReport,
        progress: @escaping @Sendable (StepProgress) -> Void
    ) {
        self.copy = copy
        self.report = report
        (moves, overwrites) = (moving, overwriting)
        self.progress = progress
        record = CopyRecord(from: report.from, to: report.to, copy.snapshot.settings.folders)
        guard record.isUnreadable else { return }
        copy.snapshot.log(
            .warning, "copy",
            "the record of what earlier runs copied from '\(report.from)' to '\(report.to)' cannot be read: different "
                + "values count as conflicts, and removed ones are copied again")
    }

    /// Why nothing may be copied; `nil` if all may.
    func refusal() throws(StorageError) -> StorageError? {
        let (from, to) = (report.from, report.to)
        if let first = report.conflicts.first, !overwrites {
            return StorageError(
                .busy,
                "store '\(to)' and '\(from)' have different values at \(report.conflicts.count.counted("address")), e.g. "
                    + "'\(first)'; nothing was copied", hint: "see them with --plan; --overwrite replaces them")
        }
        for address in different where try copy.isHostKey(address) {
            return StorageError(
                .busy,
                "store '\(to)' and '\(from)' have different keys at '\(address)', which are never overwritten: what they "
                    + "seal would be lost; nothing was copied",
                hint: "copy in the other direction, or copy single values with ld-host get and ld-host set")
        }
        return nil
    }

    mutating func look() throws(StorageError) {
        let addresses = try copy.addresses()
        for address in addresses {
            report.total += 1
            progress(StepProgress(step: "comparing", done: report.total, total: addresses.count))
            do throws(StorageError) {
                switch try copy.compare(address) {
                case .missing: try noteMissing(address)
                case .equal: present.append(address)
                // For a migration that the destination knows, the destination's own history counts.
                case .different where !copy.domains.isEmpty && address.place == HostSettings.ledgerNamespace:
                    report.total -= 1
                case .different where !copy.domains.isEmpty && address.place == HostSettings.syncNamespace:
                    outdated.append(address)
                case .different: try noteDifferent(address)
                }
            } catch {
                guard [.cannotOpen, .corrupt].contains(error.code) else { throw error }
                report.failures["\(address)"] = error.message
            }
        }
        if moves { noteRemovedFromSource(Set(addresses)) }
        report.equal = present.count
        report.conflicts = different.map { "\($0)" }
    }

    /// A value that was removed from the destination since is not copied again. It stays, since the destination may as
    /// well have been put back to an earlier state.
    private mutating func noteMissing(_ address: StorageAddress) throws(StorageError) {
        guard !overwrites, let times = record[address],
            try copy.writingTime(of: address, in: copy.source) == times.source
        else { return missing.append(address) }
        report.removedSince.append("\(address)")
    }

    private mutating func noteDifferent(_ address: StorageAddress) throws(StorageError) {
        guard let times = record[address], let source = try copy.writingTime(of: address, in: copy.source),
            let target = try copy.writingTime(of: address, in: copy.destination)
        else { return different.append(address) }
        if source == times.source, target > times.target {
            superseded.append((address, source))
            report.later.append("\(address)")
        } else if source > times.source, target == times.target,
            let digest = try copy.value(at: address, in: copy.destination).digest()
        {
            updated.append((address, digest))
        } else {
            different.append(address)
        }
    }

    /// Finds values that were removed from the source since, while the destination still has them as they were copied.
    private mutating func noteRemovedFromSource(_ addresses: Set<StorageAddress>) {
        for address in record.addresses where !addresses.contains(address) {
            // One that cannot be read is none of this run's values.
            guard isMeant(address), let times = record[address],
                (try? copy.writingTime(of: address, in: copy.destination)) == times.target
            else { continue }
            report.removedFromSource.append("\(address)")
        }
        report.removedFromSource.sort()
    }

    mutating func copyAll() throws(StorageError) {
        let some =
            missing.map { ($0, StoreCopy.Expected.nothing) } + outdated.map { ($0, .anything) }
            + updated.map { ($0.address, .value($0.copy)) } + (overwrites ? different.map { ($0, .anything) } : [])
        // The list of rings comes first: a ring must be listed before it is copied.
        let all = some.filter { RingList.holds($0.0.place) } + some.filter { !RingList.holds($0.0.place) }
        var done = 0
        while done < all.count {
            for outcome in try copyChunk(all[done...]) {
                let (address, expected) = all[done]
                switch outcome {
                case .success(let digest): note(address, digest)
                case .failure(let error): report.failures["\(address)"] = error.message
                case nil: try copy(address, replacing: expected)
                }
                done += 1
                progress(StepProgress(step: "copying", done: done, total: all.count))
            }
        }
    }

    /// Copies as many values as fit into a chunk, from the first one on.
    ///
    /// - Returns: As ``StoreCopy/copyChunk(_:)``; at least one.
    private func copyChunk(
        _ values: ArraySlice<(StorageAddress, StoreCopy.Expected)>
    ) throws(StorageError) -> [Result<UInt64, StorageError>?] {
        guard copy.copiesChunks, let place = values.first?.0.place, copy.shared[place] == nil else { return [nil] }
        var addresses: [StorageAddress] = []
        for (address, expected) in values.prefix(copy.mostValues) {
            guard case .nothing = expected, address.place == place, try !copy.isHostKey(address) else { break }
            addresses.append(address)
        }
        return addresses.count > 1 ? try copy.copyChunk(addresses) : [nil]
    }

    private mutating func note(_ address: StorageAddress, _ digest: UInt64) {
        present.append(address)
        guard !copy.isShared(address) else { return report.sealedInPlace += 1 }
        report.copied += 1
        if moves { copied[address] = digest }
    }

    private mutating func copy(
        _ address: StorageAddress, replacing expected: StoreCopy.Expected
    ) throws(StorageError) {
        do throws(StorageError) {
            switch try copy.copy(address, replacing: expected) {
            case .copied(let digest): note(address, digest)
            // Its owner has removed it meanwhile.
            case .gone: break
            case .changed: report.changed.append("\(address)")
            }
        } catch {
            guard error.code == .cannotOpen || error.code == .corrupt else { throw error }
            report.failures["\(address)"] = error.message
        }
    }

    /// Notes which domains the two stores have values of, before or after those of the source are removed: sync takes
    /// none of them for removed ones.
    func noteMove() throws(StorageError) {
        let folders = copy.snapshot.settings.folders
        // Most copies concern no earlier move, and need not wait for sync.
        let known = try MovedDomains(folders).moves
        guard moves || !known.isEmpty else { return }
        let found = present.map(\.place.domain) + superseded.map(\.address.place.domain)
        let domains = Set(found).filter { !$0.hasPrefix(HostSettings.reservedDomains) }
        try SyncDevice.lock(folders).exclusive { (_) throws(StorageError) in
            var moved = try MovedDomains(folders)
            if moves {
                moved.move(domains, from: copy.source, to: copy.destination)
            } else {
                moved.bring(domains.union(copy.domains), to: copy.destination)
            }
            try moved.save()
        }
    }

    /// Removes all but what both stores keep in the same place. The host's keys go last, so that whatever happens
    /// before, the values that they seal can be opened; they stay as long as the source serves the keychain.
    mutating func remove() throws(StorageError) {
        let (values, keys) = try parted(present)
        let all = values + (keepsKeys ? [] : keys)
        let total = all.count + superseded.count
        for (index, value) in superseded.enumerated() {
            if try remove(value.address, writtenAt: value.time) { report.removed += 1 }
            progress(StepProgress(step: "removing", done: index + 1, total: total))
        }
        // Before the others leave: no program has removed what a killed run has moved.
        try forget(all + superseded.map(\.address))
        for (index, address) in all.enumerated() {
            if try remove(address) { report.removed += 1 }
            progress(StepProgress(step: "removing", done: superseded.count + index + 1, total: total))
        }
        if keepsKeys { report.kept = keys.map { "\($0)" } }
        let kept = Set(report.removedSince)
        try forget(record.addresses.filter { isMeant($0) && !kept.contains("\($0)") })
    }

    /// Whether a value is of the domains that are copied.
    private func isMeant(_ address: StorageAddress) -> Bool {
        copy.domains.isEmpty || copy.domains.contains(address.place.domain)
    }

    /// Forgets what earlier runs have copied, also in the other direction.
    private mutating func forget(_ addresses: [StorageAddress]) throws(StorageError) {
        var back = CopyRecord(from: report.to, to: report.from, copy.snapshot.settings.folders)
        for address in addresses { (record[address], back[address]) = (nil, nil) }
        try record.save()
        try back.save()
    }

    private mutating func remove(_ address: StorageAddress, writtenAt time: Int64) throws(StorageError) -> Bool {
        switch try copy.removeSuperseded(address, writtenAt: time) {
        case .copied: return true
        case .gone: return false
        case .changed:
            report.changed.append("\(address)")
            return false
        }
    }

    /// Remembers when both stores wrote what they have now, for the run that moves it.
    mutating func remember() throws(StorageError) {
        let all = present.filter(copy.isRecorded)
        for (index, address) in all.enumerated() {
            record[address] = try copy.times(of: address)
            progress(StepProgress(step: "comparing", done: index + 1, total: all.count))
        }
        try record.save()
    }

    /// Plans what ``copyAll()`` would do.
    mutating func planCopy() {
        report.sealedInPlace = missing.count(where: copy.isShared)
        report.copied = missing.count - report.sealedInPlace + updated.count + (overwrites ? different.count : 0)
    }

    /// Plans what ``remove()`` would do.
    mutating func planRemoval() throws(StorageError) {
        let some = present + missing + outdated + updated.map(\.address) + (overwrites ? different : [])
        let (values, keys) = try parted(some)
        report.removed = values.count + superseded.count + (keepsKeys ? 0 : keys.count)
        if keepsKeys { report.kept = keys.map { "\($0)" } }
    }

    private var keepsKeys: Bool { copy.sourceServesKeychain }

    private func parted(
        _ addresses: [StorageAddress]
    ) throws(StorageError) -> (values: [StorageAddress], keys: [StorageAddress]) {
        var (values, keys): ([StorageAddress], [StorageAddress]) = ([], [])
        for address in addresses where !copy.isShared(address) {
            if try copy.isHostKey(address) { keys.append(address) } else { values.append(address) }
        }
        return (values, keys)
    }

    /// Removes a value from the source. A value that changed since this run copied it is copied again first.
    private mutating func remove(_ address: StorageAddress) throws(StorageError) -> Bool {
        for attempt in 1...Self.attempts {
            switch try copy.remove(address) {
            case .copied: return true
            case .gone:
                // Its owner has removed it, so the copy must not bring it back.
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

    /// Erases values that now are in a better protected store from the source's files.
    ///
    /// - Parameter isResumed: Whether an earlier run may have removed values and was interrupted before it did this.
    mutating func wipe(isResumed: Bool) {
        guard isResumed || report.removed + report.sealedInPlace > 0, copy.destination.isKeychain,
            !copy.source.isKeychain
        else { return }
        let places = Set(present.map(\.place)).union(isResumed ? copy.possiblePlaces() : [])
        for place in places {
            do throws(StorageError) { try copy.source.store.wipe(place) } catch {
                report.failures["removed values of '\(place)', in the files of store '\(report.from)',"] =
                    error.message
            }
        }
    }

    private static let attempts = 4
}

/// The result of copying one store to another, or the plan for it.
public struct StoreCopyReport: Encodable, Sendable {
    /// The store to copy from.
    public let from: String
    /// The store to copy to.
    public let to: String
    /// The number of values in the source.
    public var total = 0
    /// The number of values that were, or would be, copied.
    public var copied = 0
    /// The number of values that were, or would be, sealed where they are, since both stores keep them there.
    public var sealedInPlace = 0
    /// The number of values that the destination already has, byte for byte.
    public var equal = 0
    /// The addresses at which the destination has a different value, and it is not known which of the two is the later
    /// one.
    public var conflicts: [String] = []
    /// The addresses at which the destination has a later value: it was set there after an earlier run copied the
    /// source's, which is as it was. The destination's stays.
    public var later: [String] = []
    /// The addresses whose value was removed from the destination after an earlier run copied it there, while the
    /// source's is as it was. It is not copied again, and stays in the source.
    public var removedSince: [String] = []
    /// The addresses whose value was removed from the source after an earlier run copied it, while the destination's is
    /// as it was: it stays there. Only for a move.
    public var removedFromSource: [String] = []
    /// The number of values that were, or would be, removed from the source.
    public var removed = 0
    /// The host keys that were, or would be, left in the source as well, because the source serves the keychain: the
    /// values that they seal would not open without them.
    public var kept: [String] = []
    /// The addresses of values that other processes changed while they were copied or moved. A changed source or
    /// destination stays as it is.
    public var changed: [String] = []
    /// Values that could not be read, with the reason; they stay where they are.
    public var failures: [String: String] = [:]
}
