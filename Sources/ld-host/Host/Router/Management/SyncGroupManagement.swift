internal import FoundationEssentials
internal import HostSync
public import HostTransfer
internal import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// The devices that sync with this one, and what has come of it. ``sync(fromStart:)`` syncs.
    public var syncGroup: SyncGroupManagement { SyncGroupManagement(router: self) }

    /// Managing the devices that sync; see ``StorageRouter/syncGroup``.
    public struct SyncGroupManagement: Sendable {
        let router: StorageRouter
    }
}

extension StorageRouter.SyncGroupManagement {
    /// Makes this device the first one of a new group.
    ///
    /// - Parameter name: What people call the device; the host's name if `nil`.
    /// - Returns: The group's recovery code, which nothing stores: show it to the user once, and keep it nowhere.
    /// - Throws: `busy` if it is in a group; `invalidOptions` for a name that is not allowed.
    @discardableResult
    public func create(named name: String? = nil) async throws -> NewSyncGroup {
        let code = try await router.following {
            try await router.syncDevice().create(named: name ?? Self.hostName).text
        }
        do {
            return NewSyncGroup(
                recoveryCode: code,
                report: .success(try await sync(after: "the group is made, and this device is its first member")))
        } catch let error as StorageError {
            // Without its recovery code, the group could be lost to a stolen device.
            return NewSyncGroup(recoveryCode: code, report: .failure(error))
        }
    }

    /// Makes an invitation, which one device can use.
    ///
    /// - Parameter lifetime: How long it can be used.
    public func invite(for lifetime: Duration = .seconds(3600)) async throws -> SyncInvitation {
        try await router.following {
            try await router.syncDevice().invite(for: Int(clamping: lifetime.components.seconds))
        }
    }

    /// Ends all invitations that no device has used: their codes let nobody join any more, and do not open what is
    /// published from now on.
    ///
    /// - Returns: How many there were.
    /// - Throws: `storeUnavailable` if the transport cannot be reached. Then they are as before.
    @discardableResult
    public func revokeInvitations() async throws -> Int {
        try await router.following { try await router.syncDevice().revokeInvitations() }
    }

    /// Joins a group by an invitation's code. What the group has wins over what this device had before.
    ///
    /// - Throws: `busy` if the device is in a group; `invalidOptions` for a mistyped code; `notFound` and `cannotOpen`
    ///   if the code opens no invitation.
    @discardableResult
    public func join(_ code: String, named name: String? = nil) async throws -> SyncReport {
        try await router.following { try await router.syncDevice().join(code, named: name ?? Self.hostName) }
        return try await sync(after: "this device has joined the group")
    }

    /// Leaves the group. The values stay.
    ///
    /// - Parameter isOffline: Whether to leave without the transport. The other devices then count this one as a member
    ///   until one of them removes it, and keep what they would otherwise forget.
    /// - Throws: `storeUnavailable` if the transport cannot be reached. Then the device stays in the group.
    public func leave(offline isOffline: Bool = false) async throws {
        try await router.following { try await router.syncDevice().leave(offline: isOffline) }
    }

    /// The devices of the group, the longest in it first, and then those that were away for too long.
    public func members() async throws -> [SyncMember] {
        try await router.following { try await router.syncDevice().members() }
    }

    /// Removes a device from the group. It can read what was published until now, and nothing later.
    ///
    /// - Parameters:
    ///   - id: The device's id, the beginning of it, or its name.
    ///   - recoveryCode: The group's recovery code. With it, nothing counts that the other device has done and that
    ///     this one does not know, not even that it has removed this one. Without it, of two devices that remove each
    ///     other, the one stays whose removal other members knew first, or else the one that is longer in the group.
    /// - Throws: `notFound` if there is no such device, `invalidOptions` if there are several; `unsupported` for this
    ///   device, which ``leave(offline:)`` takes out of the group; `invalidOptions` and `permissionDenied` for
    ///   a mistyped code and that of another group.
    @discardableResult
    public func remove(_ id: String, recoveryCode: String? = nil) async throws -> SyncReport {
        try await router.following { try await removeOnce(id, recoveryCode) }
    }

    private func removeOnce(_ id: String, _ recoveryCode: String?) async throws -> SyncReport {
        let device = try await router.syncDevice()
        let code = try recoveryCode.map { try device.recoveryCode($0) }
        return try await device.remove(with: code) { (members) throws(StorageError) in
            let found = members.filter { $0.isMeant(by: id) }
            guard let member = found.first, found.count == 1 else {
                throw StorageError(
                    found.isEmpty ? .notFound : .invalidOptions,
                    "\(found.isEmpty ? "no device" : "more than one device") of the sync group has the id or the name "
                        + "'\(id)'",
                    hint: "list them with: ld-host sync devices")
            }
            guard !member.isThis else {
                throw StorageError(
                    .unsupported, "'\(id)' is this device", hint: "leave the group with: ld-host sync leave")
            }
            return member
        }
    }

    /// Syncs. An error says what was done before.
    private func sync(after done: String) async throws -> SyncReport {
        do { return try await router.sync() } catch let error as StorageError { throw error.after(done) }
    }

    private static var hostName: String { ProcessInfo.processInfo.hostName }
}

/// How far sync has come.
extension StorageRouter.SyncGroupManagement {
    /// Reads what this device knew of its group again from the transport, after the store of `userDefaults` has lost
    /// it. The next sync takes over the group's values again. Does nothing if nothing is lost.
    ///
    /// Only a person can decide this: keys of a group without a record of it may be somebody else's, who would read and
    /// write this device's values.
    ///
    /// - Returns: The names of the devices of the group.
    /// - Throws: `notFound` if this device has no keys of a group; `storeUnavailable` if the transport does not have
    ///   all that is needed.
    public func recover() async throws -> [String] {
        try await router.following { try await router.syncDevice().recover() }
    }

    /// How far sync has come, without asking the transport.
    public func report() async throws -> SyncReport {
        try await router.following {
            try await router.syncing(on: router.syncDevice()) { (device) throws(StorageError) in
                try await device.report()
            }.report
        }
    }

    /// Makes the removals that wait for consent.
    @discardableResult
    public func acceptRemovals() async throws -> SyncReport {
        try await router.following {
            try await router.syncing(on: router.syncDevice()) { (device) throws(StorageError) in
                try await device.sync { (turn) throws(StorageError) in try turn.engine.acceptRemovals() }
            }.report
        }
    }

    /// The addresses of values that sync changes on this device from now on, by any call through this router.
    public func changes() -> AsyncStream<String> { router.state.withLock { $0.synced }.stream() }
}

/// Values that lost against another version.
extension StorageRouter.SyncGroupManagement {
    /// The values that lost against another version.
    public func conflicts() async throws -> QuarantinedValue.List { try await router.quarantine.putAside(.conflict) }

    /// The value that lost with an id, or with the only id that begins so, and its bytes.
    ///
    /// - Throws: `notFound`; `invalidOptions` if several ids begin so; what reading the value throws.
    public func conflict(_ id: String) async throws -> QuarantinedValue.Content {
        try await router.quarantine.putAside(id, .conflict)
    }

    /// Makes a value that lost the current one, on all devices; the value that it replaces is kept instead.
    ///
    /// - Throws: `notFound`.
    @discardableResult
    public func restoreConflict(_ id: String) async throws -> QuarantinedValue {
        let quarantine = Quarantine(access: try await router.access(), kind: .conflict)
        let item = try await quarantine.item(id)
        try await quarantine.exchange(item)
        return QuarantinedValue(item)
    }
}
