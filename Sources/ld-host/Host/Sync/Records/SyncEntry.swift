internal import ByteCoding
package import FoundationEssentials
internal import LocalDataAPI

/// What a device knows of one key: the version that it holds, and what each writer has published. It is kept beside the
/// value, in the same store.
package struct SyncEntry: Hashable, Sendable {
    /// What a writer's record of the key is.
    package enum Kind: UInt8, Sendable {
        case value = 1
        case removal = 2
        case release = 3

        /// Whether it says what the value is.
        var isLive: Bool { self != .release }
        /// Whether it goes once all members have taken it in.
        var ends: Bool { self != .value }
    }

    /// A record that a writer has published.
    package struct Published: Hashable, Sendable {
        package var counter: UInt64
        package var kind: Kind
        /// The version that it says; of a release the one that it replaced.
        package var version: SyncVersion
    }

    /// A version with the hash of its value; `nil` of a removal.
    package struct State: Hashable, Sendable {
        package var version: SyncVersion
        package var history: SyncHistory
        package var hash: SyncHash?
        /// Whether a record says it, so that other devices may know it.
        package var isShared = false
        /// When the value expires, in nanoseconds since 1970 UTC.
        package var expires: Int64?

        /// Whether the value has expired by then.
        ///
        /// - Parameter now: Milliseconds since 1970 UTC.
        func hasExpired(by now: UInt64) -> Bool {
            guard hash != nil, let expires else { return false }
            return expires <= 0 || UInt64(expires) / 1_000_000 <= now
        }
    }

    package var address: String
    /// What the store holds; `nil` if nothing is known of the key yet but parked records.
    package var state: State?
    /// What is about to be stored, or a removal that waits for consent.
    package var pending: State?
    /// Whether `pending` waits for consent.
    package var isHeld = false
    /// Whether the app asked to publish a manual key's value.
    package var isRequested = false
    /// Whether a record is kept aside, which this device's software cannot use.
    package var isParked = false
    /// A version that the key has had at its present address, or under its present name, and that what is kept aside
    /// here is older than. That does not count for the key any more, also when a removal there is forgotten.
    package var passed: SyncVersion?
    /// Whether the value was there before the device was forgotten by its group, and goes if the group does not have
    /// it.
    package var isFormer = false
    /// When the value last changed here, by the clock that counters follow; 0 if sync has changed it since.
    package var changed: UInt64 = 0
    /// The latest record of each writer, this device included.
    package var published = DeviceMap<Published>()
    /// The counters of records that a transport has lost, or keeps back: of what a writer had published until then,
    /// only these may come again. They are known until the writer's records are complete.
    package var lost = DeviceMap<UInt64>()

    package init(address: String) { self.address = address }

    /// Whether there is nothing left to remember.
    var isEmpty: Bool { state == nil && pending == nil && !isParked && published.isEmpty && lost.isEmpty }

    /// Adds the later records of another entry of the key.
    package mutating func add(recordsOf other: SyncEntry) {
        published.merge(other.published) { $0.counter < $1.counter ? $1 : $0 }
        lost.merge(other.lost) { max($0, $1) }
        isParked = isParked || other.isParked
        passed = [passed, other.passed].compactMap { $0 }.max()
    }

    /// Whether it is a removal that nobody publishes.
    func isUnpublishedRemoval(of others: DeviceID) -> Bool {
        state.map { $0.hash == nil && $0.version.author != others } ?? false && pending == nil && published.isEmpty
    }
}

extension SyncEntry {
    /// The latest version of the stored form: the second has the expiry of values, the third what has passed. Entries
    /// without these keep the first.
    package static let version: UInt8 = 3

    package func encoded() -> Data {
        let hasExpiry = [state, pending].contains { $0?.expires != nil }
        var writer = ByteWriter(.bigEndian, [passed != nil ? 3 : hasExpiry ? 2 : 1])
        let flags: [Bool] = [
            state != nil, state?.hash != nil, pending != nil, pending?.hash != nil, isHeld, isRequested, isParked,
            isFormer,
        ]
        writer.add(flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
        writer.add(address)
        if let passed { writer.add(passed) }
        for state in [state, pending] {
            guard let state else { continue }
            writer.add(state.version)
            writer.add(state.history)
            writer.add(UInt8(state.isShared ? 1 : 0) | (state.expires == nil ? 0 : 2))
            if let expires = state.expires { writer.add(UInt64(bitPattern: expires)) }
            if let hash = state.hash { writer.add(hash) }
        }
        writer.add(changed)
        writer.add(UInt16(published.count))
        for (device, record) in published {
            writer.add(device)
            writer.add(record.counter)
            writer.add(record.kind.rawValue)
            writer.add(record.version)
        }
        if !lost.isEmpty { writer.add(UInt16(lost.count)) }
        for (device, counter) in lost {
            writer.add(device)
            writer.add(counter)
        }
        writer.addHash()
        return Data(writer.bytes)
    }

    /// Decodes an entry; `nil` if it is damaged, or of a later version.
    package init?(_ data: Data) {
        guard var reader = ByteReader(hashed: .bigEndian, data), let form = reader.number(UInt8.self),
            (1...Self.version).contains(form), let flags = reader.number(UInt8.self),
            case .some(.some(let address)) = reader.optionalText()
        else { return nil }
        func flag(_ index: Int) -> Bool { flags >> UInt8(index) & 1 == 1 }
        self.init(address: address)
        if form == 3 {
            guard let version = reader.syncVersion() else { return nil }
            passed = version
        }
        for (index, path) in [(0, \SyncEntry.state), (2, \SyncEntry.pending)] where flag(index) {
            guard let version = reader.syncVersion(), let history = reader.history(),
                let marks = reader.number(UInt8.self), marks < 1 << min(form, 2)
            else { return nil }
            var (hash, expires): (SyncHash?, Int64?)
            if marks & 2 != 0 {
                guard let number = reader.number(UInt64.self) else { return nil }
                expires = Int64(bitPattern: number)
            }
            if flag(index + 1) {
                guard let known = reader.hash() else { return nil }
                hash = known
            }
            self[keyPath: path] = State(
                version: version, history: history, hash: hash, isShared: marks & 1 != 0, expires: expires)
        }
        (isHeld, isRequested, isParked, isFormer) = (flag(4), flag(5), flag(6), flag(7))
        guard let changed = reader.number(UInt64.self), let count = reader.number(UInt16.self) else { return nil }
        self.changed = changed
        for _ in 0..<count {
            guard let device = reader.device(), let counter = reader.number(UInt64.self),
                let kind = reader.number(UInt8.self).flatMap(Kind.init(rawValue:)), let version = reader.syncVersion()
            else { return nil }
            published[device] = Published(counter: counter, kind: kind, version: version)
        }
        if reader.isAtEnd { return }
        guard let lostCount = reader.number(UInt16.self), lostCount > 0 else { return nil }
        for _ in 0..<lostCount {
            guard let device = reader.device(), let counter = reader.number(UInt64.self) else { return nil }
            lost[device] = counter
        }
        guard reader.isAtEnd else { return nil }
    }
}
