/// What happens to a stored value that none of its key's versions decodes. One that a version decodes, and whose
/// converter throws, always stays where it is: reading fails, and the next read converts it again.
public enum UndecodablePolicy: String, Hashable, Sendable {
    /// Reading fails, and the value stays where it is. The first `set` puts it into quarantine.
    case fail
    /// Reading puts the value into quarantine; from then on the key has no value, so its default is used. As long as
    /// nobody has set or removed the key, a program that reads the value puts it back.
    case quarantine
}
