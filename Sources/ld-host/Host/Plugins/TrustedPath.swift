/// A real path that other users cannot change according to `FileTrust`, and the file's identity at that moment.
///
/// As long as the process keeps its user, only that user and root can put another file there.
package struct TrustedPath: Hashable, Sendable {
    /// The absolute path without symbolic links; the only one to open from now on.
    package let path: String
    /// The file's identity when it was checked.
    package let identity: FileIdentity

    /// Only for `FileTrust`, whose check makes the path trusted.
    init(path: String, identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }
}
