internal import FoundationEssentials
internal import LocalDataAPI

/// One run over all values.
struct CopyRun {
    let copy: StoreCopy
    var report: StoreCopyReport
    let moves: Bool
    let progress: @Sendable (StepProgress) -> Void
    private(set) var missing: [StorageAddress] = []
    private var different: [StorageAddress] = []
    private var present: [StorageAddress] = []
    /// What sync knew at the destination of earlier copies of the values.
    private var outdated: [StorageAddress] = []
    /// For a run that moves values: the hash of each opened value that it has copied.
    private var copied: [StorageAddress: UInt64] = [:]

    init(
        copy: StoreCopy, moving: Bool, report: StoreCopyReport, progress: @escaping @Sendable (StepProgress) -> Void
    ) {
        self.copy = copy
        self.report = report
        moves = moving
        self.progress = progress
    }

    /// The address of a host key that differs at the destination.
    func differentKey() throws(StorageError) -> StorageAddress? {
        for address in different where try copy.isHostKey(address) { return address }
        return nil
    }

    mutating func look() throws(StorageError) {
        let addresses = try copy.addresses()
        for address in addresses {
            report.total += 1
            progress(StepProgress(step: "comparing", done: report.total, total: addresses.count))
            do throws(StorageError) {
                switch try copy.compare(address) {
                case .missing: missing.append(address)
                case .equal: present.append(address)
                // For a migration that the destination knows, the destination's own history counts.
                case .different where !copy.domains.isEmpty && address.place == HostSettings.ledgerNamespace:
                    report.total -= 1
                case .different where !copy.domains.isEmpty && address.place == HostSettings.syncNamespace:
                    outdated.append(address)
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
        let some =
            missing.map { ($0, false) } + outdated.map { ($0, true) }
            + (overwriting ? different.map { ($0, true) } : [])
        // The list of rings comes first: a ring must be listed before it is copied.
        let all = some.filter { RingList.holds($0.0.place) } + some.filter { !RingList.holds($0.0.place) }
        var done = 0
        while done < all.count {
            for outcome in try copyChunk(all[done...]) {
                let (address, replaces) = all[done]
                switch outcome {
                case .success(let digest): note(address, digest)
                case .failure(let error): report.failures["\(address)"] = error.message
                case nil: try copy(address, replacing: replaces ? .anything : .nothing)
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
        _ values: ArraySlice<(StorageAddress, Bool)>
    ) throws(StorageError) -> [Result<UInt64, StorageError>?] {
        guard copy.copiesChunks, let place = values.first?.0.place, copy.shared[place] == nil else { return [nil] }
        var addresses: [StorageAddress] = []
        for (address, replaces) in values.prefix(copy.mostValues) {
            guard address.place == place, !replaces, try !copy.isHostKey(address) else { break }
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

    /// Removes all but what both stores keep in the same place. The host's keys go last, so that whatever happens
    /// before, the values that they seal can be opened; they stay as long as the source serves the keychain.
    mutating func remove() throws(StorageError) {
        let (values, keys) = try parted(present)
        let all = values + (keepsKeys ? [] : keys)
        for (index, address) in all.enumerated() {
            if try remove(address) { report.removed += 1 }
            progress(StepProgress(step: "removing", done: index + 1, total: all.count))
        }
        if keepsKeys { report.kept = keys.map { "\($0)" } }
    }

    /// Plans what ``remove()`` would do.
    mutating func planRemoval(overwriting: Bool) throws(StorageError) {
        let (values, keys) = try parted(present + missing + outdated + (overwriting ? different : []))
        report.removed = values.count + (keepsKeys ? 0 : keys.count)
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
    /// The addresses at which the destination has a different value.
    public var conflicts: [String] = []
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

/// The journal's entry of a store copy: only one process copies at a time, and the next one learns of an interruption.
/// The stores themselves show what is done.
enum CopyIntent {
    static let kind = "copy"

    /// Takes over the entry of an interrupted run, or writes a new one.
    ///
    /// - Throws: `busy` if another process is copying.
    static func take(
        from: String, to: String, domains: [String], moving: Bool, folder: String
    ) throws(StorageError) -> (intent: Intent, isResumed: Bool) {
        let journal = try IntentJournal(folder: folder)
        let payload = payload(from, to, domains)
        if let interrupted = try interrupted(payload, journal) { return (interrupted, true) }
        let what = domains.isEmpty ? "" : "\(domains.joined(separator: ", ")) of "
        let intent = try journal.begin(
            kind: kind, subject: "\(moving ? "moving" : "copying") \(what)store '\(from)' to store '\(to)'",
            payload: payload)
        return (intent, false)
    }

    /// Forgets an interrupted run.
    ///
    /// - Throws: `notFound` if it is absent; `busy` if a process is copying.
    static func giveUp(from: String, to: String, domains: [String], folder: String) throws(StorageError) {
        let journal = try IntentJournal(folder: folder)
        guard let intent = try interrupted(payload(from, to, domains), journal) else {
            throw StorageError(
                .notFound, "no copy of store '\(from)' to store '\(to)' was interrupted", hint: "see: ld-host doctor")
        }
        try intent.finish()
    }

    private static func interrupted(_ payload: Data, _ journal: IntentJournal) throws(StorageError) -> Intent? {
        for pending in try journal.pending(kind: kind) where pending.payload == payload {
            guard pending.state == .interrupted else {
                throw StorageError(
                    .busy, "process \(pending.owner) is running: \(pending.subject)", hint: "wait until it is done")
            }
            return try journal.adopt(pending.id)
        }
        return nil
    }

    private static func payload(_ from: String, _ to: String, _ domains: [String]) -> Data {
        Data(([from, to] + domains).joined(separator: "\0").utf8)
    }

    /// The command that resumes an interrupted run, or gives it up.
    static func command(_ intent: PendingIntent, givingUp: Bool = false) -> String {
        let names = intent.payload.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let domains = names.dropFirst(2).map { " --domain \($0)" }.joined()
        let flag = givingUp ? " --give-up" : intent.subject.hasPrefix("moving") ? " --move" : ""
        return "ld-host store copy \(names.prefix(2).joined(separator: " "))\(domains)\(flag)"
    }
}
