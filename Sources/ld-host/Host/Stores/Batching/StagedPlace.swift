internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Where a batch's changes in one scope are staged. They are named by the batch, the folder if there is one, and their
/// number in the scope, from 0 on. Each says where its value belongs.
struct StagedPlace {
    let open: OpenStore
    let namespace: StorageNamespace
    let prefix: String

    // The domain cannot be configured, so it never contains an app's values.
    private static let domain = HostSettings.reservedDomains + "batch"

    /// Whether a namespace is of staged changes.
    static func holds(_ place: StorageNamespace) -> Bool { place.domain == domain }

    init(_ batch: IntentID, in scope: AtomicScope) {
        open = scope.open
        namespace = Self.namespace(scope.directory)
        // A folder may have several names, one of which may be the store's own choice.
        prefix = scope.directory.map { "\(batch) \(StableHash.text([$0]))" } ?? "\(batch)"
    }

    /// Where the changes in a folder are staged, or those of all namespaces without one.
    static func namespace(_ directory: String?) -> StorageNamespace {
        StorageNamespace(domain: domain, directory: directory)
    }

    /// The batch that has staged a change; `nil` for another name.
    static func batch(of name: String) -> IntentID? {
        IntentID(String(name.prefix { $0 != "." && $0 != " " }))
    }

    func handle(_ index: Int) throws(StorageError) -> HeldHandle {
        HeldHandle(open.store, try open.store.resolve(address(index)))
    }

    func address(_ index: Int) -> StorageAddress {
        StorageAddress(namespace, name: "\(prefix).\(index)")
    }

    func attributes(of staged: HeldHandle) throws(StorageError) -> ValueAttributes? {
        guard open.store.abilities.attributes != nil else { return nil }
        return try open.store.attributes(of: staged.handle)?.kept
    }
}

extension StagedPlace {
    /// How often changes are put in place that others disturb.
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
    func publish(_ count: Int, progress: (Int) -> Void = { _ in }) throws(StorageError) {
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
        let most = abilities.transactions == nil && abilities.batch == nil ? 1 : MoveLimits.staged
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
        for index in range where size < MoveLimits.bytes {
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
            let target = try target(of: record)
            part.handles += [staged, target]
            if record.stillReplaces(try hash(of: target, for: record, read)) {
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
                let now = try StagedRecord.hash(value(try target(of: record)).storedDigest)
                guard now != record.replaced else { return }
                let next = StagedRecord(
                    value: record.value, isBeside: record.isBeside, replaced: now, address: record.address)
                try open.store.set(staged.handle, to: next.encoded, attributes: try attributes(of: staged))
            }
        }
    }

    /// The hash of what is stored, as ``StagedBatch`` took it for a record.
    private func hash(
        of target: HeldHandle, for record: StagedRecord, _ read: (HeldHandle) throws(StorageError) -> Data?
    ) throws(StorageError) -> UInt64? {
        record.replacesCorrupt
            ? try StagedRecord.hash(value(target).storedDigest) : try read(target).map { StableHash.of($0) }
    }

    private func value(_ held: HeldHandle) -> SealedValue {
        SealedValue(store: open.store, handle: held.handle, layers: [], place: nil, owner: held)
    }

    private func target(of record: StagedRecord) throws(StorageError) -> HeldHandle {
        HeldHandle(open.store, try open.store.resolve(record.address))
    }

    /// Copies a large value to its place, in pieces, and then removes what was staged: the bytes before the record, so
    /// that none are left behind.
    private func publishLarge(_ index: Int, _ record: StagedRecord) throws(StorageError) {
        let (staged, held) = (try handle(index), try besideHandle(index))
        let (source, target) = (value(held), value(try target(of: record)))
        if try open.store.exists(held.handle), record.stillReplaces(try StagedRecord.hash(target.storedDigest)) {
            try source.copy(to: target, attributes: try attributes(of: held))
        }
        _ = try open.store.remove(held.handle)
        _ = try withExtendedLifetime(staged) { () throws(StorageError) in try open.store.remove(staged.handle) }
    }

    /// Discards the staged changes of a batch that will not take effect.
    ///
    /// - Parameter count: How many there can be; only for a store that cannot list them.
    func clear(atMost count: Int) throws(StorageError) {
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
            try open.store.forEachName(in: namespace, prefix: "\(prefix).", limit: MoveLimits.staged) {
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
