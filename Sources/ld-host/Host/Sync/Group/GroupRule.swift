/// A rule of ``GroupVerdicts`` and ``GroupLog`` against removed devices. A test leaves one out to show that it is
/// needed.
enum GroupRule: String, CaseIterable, Sendable {
    /// Rule 4: what a removed device does at the same time is void, also of a more senior device.
    case removalsAreFinal
    /// Rule 4: a witness did not join by what is in question.
    case witnessesJoinedBefore
    /// Rule 4: a witness did not know of the removal.
    case witnessesDidNotKnow
    /// Rule 4: a witness is a third device.
    case witnessesAreOthers
    /// Rule 4: a join under an invite of a removed device counts as what that device does.
    case invitationsEndWithTheirAuthor
    /// Rule 5: a removal that leaves out what its author has said before loses.
    case nothingIsLeftOut
    /// Rule 6.
    case codeBeatsAll
    /// In a circle, what has a witness comes first.
    case witnessedComesFirst
    /// Void entries are no parents and are not kept.
    case voidIsDiscarded
    /// A member starts an epoch if a device that is none may have the key.
    case epochsFollowMembers
}
