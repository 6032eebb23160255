/// A real path that `FileTrust` found to be out of the reach of other users, and what the file was at that moment.
///
/// As long as the process stays the same user, only that user and root can put another file in this place.
package struct TrustedPath: Hashable, Sendable {
    /// The absolute path without symbolic links; the only one to open afterwards.
    package let path: String
    /// What the file was when it was checked.
    package let identity: FileIdentity

    /// Only for `FileTrust`, whose check is what makes the path trusted.
    init(path: String, identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }
}
