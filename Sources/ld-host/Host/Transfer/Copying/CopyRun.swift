internal import FoundationEssentials
package import HostGround
internal import HostPlugins
internal import HostStores
package import LocalDataAPI

/// One run over all values.
package struct CopyRun {
    let copy: StoreCopy
    package var report: StoreCopyReport
    let moves: Bool
    let decision: CopyDecision
    let progress: @Sendable (StepProgress) -> Void
    package private(set) var missing: [StorageAddress] = []
    private var present: [StorageAddress] = []
    /// What sync knew at the destination of earlier copies of the values.
    private var outdated: [StorageAddress] = []
    /// Values that replace others in the destination, with those.
    private var updated: [(address: StorageAddress, replacing: StoreCopy.Expected)] = []
    /// Values of the source instead of which those of the destination count.
    private var superseded: [StoreCopy.Superseded] = []
    /// Different values that both stay.
    private var undecided: Set<StorageAddress> = []
    private var record: CopyRecord
    /// For a run that moves values: the hash of each opened value that it has copied.
    private var copied: [StorageAddress: UInt64] = [:]

    package init(
        copy: StoreCopy, moving: Bool, choosing choice: StoreCopyChoice?, isResumed: Bool, report: StoreCopyReport,
        progress: @escaping @Sendable (StepProgress) -> Void
    ) {
        self.copy = copy
        self.report = report
        moves = moving
        decision = CopyDecision(copy: copy, choice: choice, isResumed: isResumed)
        self.progress = progress
        record = CopyRecord(from: report.from, to: report.to, copy.snapshot.settings.folders)
        guard record.isUnreadable else { return }
        copy.snapshot.log(
            .warning, "copy",
            "the record of what earlier runs copied from '\(report.from)' to '\(report.to)' cannot be read: of "
                + "different values the times decide, and removed ones are copied again")
    }

    package mutating func look() throws(StorageError) {
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
                // Its owner has removed it while it was being read.
                if error.code == .notFound { continue }
                guard [.cannotOpen, .corrupt].contains(error.code) else { throw error }
                report.failures["\(address)"] = error.message
            }
        }
        if moves { noteRemovedFromSource(Set(addresses)) }
        report.equal = present.count
    }

    /// A value that was removed from the destination since is not copied again. It stays, since the destination may as
    /// well have been put back to an earlier state.
    private mutating func noteMissing(_ address: StorageAddress) throws(StorageError) {
        guard decision.choice != .source, let times = record[address],
            try copy.writingTime(of: address, in: copy.source) == times.source
        else { return missing.append(address) }
        report.removedSince.append("\(address)")
    }

    private mutating func noteDifferent(_ address: StorageAddress) throws(StorageError) {
        // One that has just been removed is found by the next run.
        guard let difference = try decision.difference(at: address, record[address]) else { return }
        switch difference.ending {
        case .sourceIsLater, .overwritten:
            // One that cannot be opened is nobody's later value.
            let digest = try? copy.value(at: address, in: copy.destination).digest()
            updated.append((address, digest.map { .value($0) } ?? .anything))
        case .destinationIsLater, .kept:
            if let found = try copy.superseded(address) { superseded.append(found) }
        case .undecided, .separateKeys: undecided.insert(address)
        }
        report.differences.append(difference)
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

    package mutating func copyAll() throws(StorageError) {
        let some =
            missing.map { ($0, StoreCopy.Expected.nothing) } + outdated.map { ($0, .anything) }
            + updated.map { ($0.address, $0.replacing) }
        // The list of rings comes first: a ring must be listed before it is copied.
        let all = some.filter { RingList.holds($0.0.place) } + some.filter { !RingList.holds($0.0.place) }
        var done = 0
        while done < all.count {
            for outcome in try copyStep(all[done...]) {
                let (address, expected) = all[done]
                switch outcome {
                case .success(let copied): note(address, copied)
                case .failure(let error): report.failures["\(address)"] = error.message
                case nil: try copy(address, replacing: expected)
                }
                done += 1
                progress(StepProgress(step: "copying", done: done, total: all.count))
            }
        }
    }

    /// Copies as many values as fit into a step, from the first one on.
    ///
    /// - Returns: As ``StoreCopy/copyStep(_:)``; at least one.
    private func copyStep(
        _ values: ArraySlice<(StorageAddress, StoreCopy.Expected)>
    ) throws(StorageError) -> [Result<StoreCopy.Copied, StorageError>?] {
        guard copy.copiesInSteps, let place = values.first?.0.place, copy.shared[place] == nil else { return [nil] }
        var addresses: [StorageAddress] = []
        for (address, expected) in values.prefix(copy.mostValues) {
            guard case .nothing = expected, address.place == place, try !copy.isHostKey(address) else { break }
            addresses.append(address)
        }
        return addresses.count > 1 ? try copy.copyStep(addresses) : [nil]
    }

    private mutating func note(_ address: StorageAddress, _ copied: StoreCopy.Copied) {
        present.append(address)
        guard !copy.isShared(address) else { return report.sealedInPlace += 1 }
        report.copied += 1
        if copy.isRecorded(address) { record[address] = copied.times }
        if moves { self.copied[address] = copied.digest }
    }

    private mutating func copy(
        _ address: StorageAddress, replacing expected: StoreCopy.Expected
    ) throws(StorageError) {
        do throws(StorageError) {
            switch try copy.copy(address, replacing: expected) {
            case .copied(let copied): note(address, copied)
            // Its owner has removed it meanwhile.
            case .gone, .removed: break
            case .changed: report.changed.append("\(address)")
            }
        } catch {
            // As above.
            if error.code == .notFound { return }
            guard error.code == .cannotOpen || error.code == .corrupt else { throw error }
            report.failures["\(address)"] = error.message
        }
    }

    /// Notes which domains the two stores have values of, before or after those of the source are removed: sync takes
    /// none of them for removed ones.
    package func noteMove() throws(StorageError) {
        let folders = copy.snapshot.settings.folders
        // Most copies concern no earlier move, and need not wait for sync.
        let known = try MovedDomains(folders).moves
        guard moves || !known.isEmpty else { return }
        let found = present.map(\.place.domain) + superseded.map(\.address.place.domain)
        let domains = Set(found).filter { !$0.hasPrefix(HostSettings.reservedDomains) }
        try SyncDevice.lock(folders).exclusive { (_) throws(StorageError) in
            var moved = try MovedDomains(folders)
            if moves {
                let arrived = try isWhole(domains) ? UInt64(max(0, Date().timeIntervalSince1970 * 1000)) : nil
                moved.move(domains, from: copy.source, to: copy.destination, arrived: arrived)
            } else {
                moved.bring(domains.union(copy.domains), to: copy.destination)
            }
            try moved.save()
        }
    }

    /// Whether the destination has of some domains what the source has, and nothing else.
    private func isWhole(_ domains: Set<String>) throws(StorageError) -> Bool {
        guard superseded.isEmpty, undecided.isEmpty, report.failures.isEmpty, report.removedSince.isEmpty else {
            return false
        }
        let back = try StoreCopy(
            snapshot: copy.snapshot, source: copy.destination, destination: copy.source, domains: domains.sorted())
        let there = try back.addresses().filter { domains.contains($0.place.domain) }
        return Set(there).isSubset(of: Set(present))
    }

    /// Removes all but what both stores keep in the same place. The host's keys go last, so that whatever happens
    /// before, the values that they seal can be opened; they stay as long as the source serves the keychain.
    package mutating func remove() throws(StorageError) {
        let (values, keys) = try parted(present)
        let all = values + (keepsKeys ? [] : keys)
        let total = all.count + superseded.count
        for (index, value) in superseded.enumerated() {
            if try remove(value) { report.removed += 1 }
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
        try forget(record.addresses.filter { isMeant($0) && !kept.contains("\($0)") && !undecided.contains($0) })
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

    private mutating func remove(_ value: StoreCopy.Superseded) throws(StorageError) -> Bool {
        switch try copy.removeSuperseded(value) {
        case .copied, .removed: return true
        case .gone: return false
        case .changed:
            report.changed.append("\(value.address)")
            return false
        }
    }

    /// Remembers when both stores wrote what they have now, for the run that moves it. What this run has copied is
    /// recorded already.
    package mutating func remember() throws(StorageError) {
        let all = present.prefix(report.equal).filter(copy.isRecorded)
        for (index, address) in all.enumerated() {
            record[address] = try copy.times(of: address)
            progress(StepProgress(step: "comparing", done: index + 1, total: all.count))
        }
        try record.save()
    }

    /// Plans what ``copyAll()`` would do.
    package mutating func planCopy() {
        report.sealedInPlace = missing.count(where: copy.isShared)
        report.copied = missing.count - report.sealedInPlace + updated.count
    }

    /// Plans what ``remove()`` would do.
    package mutating func planRemoval() throws(StorageError) {
        let some = present + missing + outdated + updated.map(\.address)
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
        for attempt in 1...MoveLimits.attempts {
            switch try copy.remove(address) {
            case .copied, .removed: return true
            case .gone:
                // Its owner has removed it, so the copy must not bring it back.
                if let digest = copied[address] { try copy.withdraw(address, digest) }
                return false
            case .changed: break
            }
            guard attempt < MoveLimits.attempts, let digest = copied[address],
                case .copied(let newer) = try copy.copy(address, replacing: .value(digest))
            else { break }
            copied[address] = newer.digest
        }
        if let digest = copied[address] { try copy.withdraw(address, digest) }
        report.changed.append("\(address)")
        return false
    }

    /// Erases values that now are in a better protected store from the source's files.
    ///
    /// - Parameter isResumed: Whether an earlier run may have removed values and was interrupted before it did this.
    package mutating func wipe(isResumed: Bool) {
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
}
