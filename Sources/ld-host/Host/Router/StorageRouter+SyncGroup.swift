internal import FoundationEssentials
internal import HostSync
public import HostTransfer
internal import LocalDataAPI

extension StorageRouter {
    /// Makes this device the first one of a new group.
    ///
    /// - Parameter name: What people call the device; the host's name if `nil`.
    /// - Returns: The group's recovery code, which nothing stores: show it to the user once, and keep it nowhere.
    /// - Throws: `busy` if it is in a group; `invalidOptions` for a name that is not allowed.
    @discardableResult
    public func createSyncGroup(named name: String? = nil) async throws -> NewSyncGroup {
        let code = try await syncDevice().create(named: name ?? Self.hostName).text
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
    public func inviteToSync(for lifetime: Duration = .seconds(3600)) async throws -> SyncInvitation {
        try await syncDevice().invite(for: Int(clamping: lifetime.components.seconds))
    }

    /// Ends all invitations that no device has used: their codes let nobody join any more, and do not open what is
    /// published from now on.
    ///
    /// - Returns: How many there were.
    /// - Throws: `storeUnavailable` if the transport cannot be reached. Then they are as before.
    @discardableResult
    public func revokeSyncInvitations() async throws -> Int { try await syncDevice().revokeInvitations() }

    /// Joins a group by an invitation's code. What the group has wins over what this device had before.
    ///
    /// - Throws: `busy` if the device is in a group; `invalidOptions` for a mistyped code; `notFound` and `cannotOpen`
    ///   if the code opens no invitation.
    @discardableResult
    public func joinSyncGroup(_ code: String, named name: String? = nil) async throws -> SyncReport {
        try await syncDevice().join(code, named: name ?? Self.hostName)
        return try await sync(after: "this device has joined the group")
    }

    /// Leaves the group. The values stay.
    ///
    /// - Parameter isOffline: Whether to leave without the transport. The other devices then count this one as a member
    ///   until one of them removes it, and keep what they would otherwise forget.
    /// - Throws: `storeUnavailable` if the transport cannot be reached. Then the device stays in the group.
    public func leaveSyncGroup(offline isOffline: Bool = false) async throws {
        try await syncDevice().leave(offline: isOffline)
    }

    /// The devices of the group, the longest in it first, and then those that were away for too long.
    public func syncMembers() async throws -> [SyncMember] { try await syncDevice().members() }

    /// Removes a device from the group. It can read what was published until now, and nothing later.
    ///
    /// - Parameters:
    ///   - id: The device's id, the beginning of it, or its name.
    ///   - recoveryCode: The group's recovery code. With it, nothing counts that the other device has done and that
    ///     this one does not know, not even that it has removed this one. Without it, of two devices that remove each
    ///     other, the one stays whose removal other members knew first, or else the one that is longer in the group.
    /// - Throws: `notFound` if there is no such device, `invalidOptions` if there are several; `unsupported` for this
    ///   device, which ``leaveSyncGroup(offline:)`` takes out of the group; `invalidOptions` and `permissionDenied` for
    ///   a mistyped code and that of another group.
    @discardableResult
    public func removeSyncMember(_ id: String, recoveryCode: String? = nil) async throws -> SyncReport {
        let device = try await syncDevice()
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
        do { return try await sync() } catch let error as StorageError { throw error.after(done) }
    }

    private static var hostName: String { ProcessInfo.processInfo.hostName }
}
