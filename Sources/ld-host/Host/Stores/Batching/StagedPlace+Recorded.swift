internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Staged changes whose records say where they belong: more of them than memory has room for. They are numbered from 0
/// on, as those that the journal lists.
extension StagedPlace {
    /// The most changes, and the bytes of all but the last, that are put in place at once.
    private static let mostChanges = 1024
    private static let mostBytes = 4 << 20
    private static let attempts = 64

    /// Where the bytes of a large value are staged.
    func besideHandle(_ index: Int) throws(StorageError) -> HeldHandle {
        let address = StorageAddress(namespace, name: "\(address(index).name).value")
        return HeldHandle(open.store, try open.store.resolve(address))
    }

    /// Puts the remaining changes in place, where the value is still the one that the change was made for, some at a
    /// time. It may be called again after an interruption at any point.
    ///
    /// - Parameter progress: Called with the number of changes that are in place.
    func publishRecorded(_ count: Int, progress: (Int) -> Void = { _ in }) throws(StorageError) {
        var next = 0
        while next < count {
            next = try publishSome(next..<count)
            progress(next)
        }
    }

    /// - Returns: The first change that is not yet in place.
    private func publishSome(_ range: Range<Int>) throws(StorageError) -> Int {
        let abilities = open.store.abilities
        // A store that changes value by value compares right before each change.
        let most = abilities.transactions == nil && abilities.batch == nil ? 1 : Self.mostChanges
        // Each attempt fails because others have changed one more of the values, which is then left as it is.
        for _ in 0..<Self.attempts {
            let view =
                abilities.transactions == nil
                ? nil : try StoreView(AtomicScope(open, directory: namespace.directory))
            let part = try part(range.prefix(most)) { (key) throws(StorageError) in
                guard let view else { return try open.store.get(key.handle) }
                return try view.read(key.handle, of: key)
            }
            if let large = part.large {
                try publishLarge(range.lowerBound, large)
                return range.lowerBound + 1
            }
            let isDone = try withExtendedLifetime(part.handles) { () throws(StorageError) in
                if let view { return try view.apply(part.changes) }
                try open.apply(part.changes)
                return true
            }
            if isDone { return part.end }
        }
        throw StorageError(
            .busy, "the values that a batch changes in store '\(open.name)' were changed repeatedly",
            hint: "try again")
    }

    /// Changes that are put in place at once, or a large value on its own.
    private struct Part {
        var changes: [StorageChange<StoreHandle>] = []
        var handles: [HeldHandle] = []
        /// The first change behind it.
        var end: Int
        var large: StagedRecord?
    }

    private func part(
        _ range: Range<Int>, read: (HeldHandle) throws(StorageError) -> Data?
    ) throws(StorageError) -> Part {
        var part = Part(end: range.lowerBound)
        var size = 0
        for index in range where size < Self.mostBytes {
            let staged = try handle(index)
            guard let bytes = try read(staged) else {
                part.end = index + 1
                continue
            }
            let record = try StagedRecord(bytes, at: address(index))
            if record.isBeside {
                if index == range.lowerBound { part.large = record }
                return part
            }
            let target = try target(of: record, index)
            part.handles += [staged, target]
            if record.stillReplaces(hash: try hash(of: target, for: record, read)) {
                part.changes.append(
                    StorageChange(key: target.handle, value: record.value, attributes: try attributes(of: staged)))
            }
            part.changes.append(StorageChange(key: staged.handle, value: nil))
            part.end = index + 1
            size += bytes.count
        }
        return part
    }

    /// Lets undecided changes replace what is stored now.
    func followOthers(_ count: Int) throws(StorageError) {
        for index in 0..<count {
            let staged = try handle(index)
            try withExtendedLifetime(staged) { () throws(StorageError) in
                guard let bytes = try open.store.get(staged.handle) else { return }
                let record = try StagedRecord(bytes, at: address(index))
                let now = try StagedRecord.hash(value(try target(of: record, index)).storedDigest)
                guard now != record.replaced else { return }
                let next = StagedRecord(
                    value: record.value, isBeside: record.isBeside, replaced: now, address: record.address)
                try open.store.set(staged.handle, to: next.encoded, attributes: try attributes(of: staged))
            }
        }
    }

    /// The hash of what is stored, as ``StreamedBatch`` took it for a record.
    private func hash(
        of target: HeldHandle, for record: StagedRecord, _ read: (HeldHandle) throws(StorageError) -> Data?
    ) throws(StorageError) -> UInt64? {
        record.replacesCorrupt
            ? try StagedRecord.hash(value(target).storedDigest) : try read(target).map { StableHash.of($0) }
    }

    private func value(_ held: HeldHandle) -> SealedValue {
        SealedValue(store: open.store, handle: held.handle, layers: [], place: nil, owner: held)
    }

    private func target(of record: StagedRecord, _ index: Int) throws(StorageError) -> HeldHandle {
        guard let address = record.address else {
            throw StorageError(
                .corrupt, "the staged value of a batch at '\(address(index))' does not say where it belongs",
                hint: "remove it if the value that the batch was to change is right")
        }
        return HeldHandle(open.store, try open.store.resolve(address))
    }

    /// Copies a large value to its place, in pieces, and then removes what was staged: the bytes before the record, so
    /// that none are left behind.
    private func publishLarge(_ index: Int, _ record: StagedRecord) throws(StorageError) {
        let (staged, held) = (try handle(index), try besideHandle(index))
        let (source, target) = (value(held), value(try target(of: record, index)))
        if try open.store.exists(held.handle), record.stillReplaces(hash: try StagedRecord.hash(target.storedDigest)) {
            try source.copy(to: target, attributes: try attributes(of: held))
        }
        _ = try open.store.remove(held.handle)
        _ = try withExtendedLifetime(staged) { () throws(StorageError) in try open.store.remove(staged.handle) }
    }

    /// Discards the staged changes of a batch that will not take effect.
    ///
    /// - Parameter count: How many there can be; only for a store that cannot list them.
    func clearRecorded(atMost count: Int) throws(StorageError) {
        guard open.store.abilities.enumeration != nil else {
            for index in 0..<count {
                for staged in [try besideHandle(index), try handle(index)] {
                    _ = try withExtendedLifetime(staged) { () throws(StorageError) in
                        try open.store.remove(staged.handle)
                    }
                }
            }
            return
        }
        while true {
            var names: [String] = []
            try open.store.forEachName(in: namespace, prefix: "\(prefix).", limit: Self.mostChanges) {
                names.append($0)
                return true
            }
            if names.isEmpty { return }
            var handles: [HeldHandle] = []
            for name in names {
                let address = StorageAddress(namespace, name: name)
                handles.append(HeldHandle(open.store, try open.store.resolve(address)))
            }
            try withExtendedLifetime(handles) { () throws(StorageError) in
                try open.apply(handles.map { StorageChange(key: $0.handle, value: nil) })
            }
        }
    }
}
