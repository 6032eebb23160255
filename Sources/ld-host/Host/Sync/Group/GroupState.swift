package import FoundationEssentials
package import LocalDataAPI

/// What the entries of a log say together. It is the same on every device that has the same entries.
package struct GroupState: Equatable, Sendable {
    /// A device that is or was a member.
    package struct Member: Equatable, Sendable {
        /// The device's id.
        package let id: DeviceID
        /// What its owner calls it.
        package let name: String
        /// Its role.
        package let role: DeviceRole
        /// Its Ed25519 public key.
        package let signingKey: Data
        /// Its X25519 public key.
        package let agreementKey: Data
        /// When it joined: milliseconds since 1970 UTC by its own clock, for people.
        package let since: UInt64
    }

    /// A time in which one key seals all records.
    package struct Epoch: Equatable, Sendable {
        /// How many epochs preceded it; two epochs can have the same number.
        package let number: UInt32
        /// Its id.
        package let id: EpochID
        /// The epoch with which its *era* began: from then on nobody was excluded but codes.
        package let eraStart: EpochID
        /// The epochs of the era, itself included. What was sealed in one of them counts.
        package let era: Set<EpochID>
    }

    /// An invitation that nobody has used.
    package struct OpenInvitation: Equatable, Sendable {
        /// Its id.
        package let id: InvitationID
        /// The entry that made it.
        package let entry: EntryID
        /// Its X25519 public key.
        let agreementKey: Data
        /// The member that made it.
        package let author: DeviceID
        /// Its end, in milliseconds since 1970 UTC.
        package let expiry: UInt64
        /// Whether a device that may not join has tried to use it.
        let isUsedInVain: Bool

        /// Whether it can be used at a time, in milliseconds since 1970 UTC.
        package func isOpen(at time: UInt64) -> Bool { time <= expiry }
    }

    /// The group's id.
    package let group: EntryID
    /// The members, the most senior first: in the order of their joins.
    package let members: [Member]
    /// Devices that were removed or left, likewise. They never become members again; with new ``DeviceKeys`` they can.
    package let removed: [Member]
    /// Devices that must join again, likewise.
    package let forgotten: [Member]
    /// The current epoch.
    package let epoch: Epoch
    /// Whether a device that is no member may know the current epoch's key, or a member may lack one of its era: after
    /// concurrent removals, after a member left or was forgotten, or after a join that was concurrent to a removal. A
    /// member that finds this starts a new era before it publishes anything.
    package let needsRekey: Bool
    /// Whether the code of an invitation opens the current epoch's key although it was used, if only in vain, or was
    /// ended. A member that finds this starts a new epoch before it publishes anything.
    package let isKnownByCode: Bool
    /// Unused invitations by id, expired ones too.
    package let invitations: [OpenInvitation]

    /// The member with this id.
    package func member(_ id: DeviceID) -> Member? { members.first { $0.id == id } }

    /// The device with this id that is or was a member.
    package func device(_ id: DeviceID) -> Member? {
        member(id) ?? removed.first { $0.id == id } ?? forgotten.first { $0.id == id }
    }

    /// The member that does what only one device of the group may do, such as migrating values that all of them have:
    /// the most senior one with the role `phone`, or else the most senior one with the role `all`; `nil` if all are
    /// watches.
    package var lead: Member? { members.first { $0.role == .phone } ?? members.first { $0.role == .all } }
}
