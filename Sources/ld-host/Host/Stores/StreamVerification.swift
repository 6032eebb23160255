internal import LocalDataAPI

/// How much of a value is verified before its first byte is passed on.
public enum StreamVerification: Sendable {
    /// All of it, in a first pass; a second one passes it on.
    case whole
    /// Each chunk with all before it: if the value was truncated or changed further on, that is only noticed there,
    /// after its beginning was passed on.
    case chunks
}
