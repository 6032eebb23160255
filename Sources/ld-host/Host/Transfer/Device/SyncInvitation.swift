internal import LocalDataAPI

/// An invitation to the sync group.
public struct SyncInvitation: Sendable {
    /// The code to type on the new device. It is a secret until the invitation ends.
    public let code: String
    /// How long it can be used.
    public let lifetime: Duration
}
